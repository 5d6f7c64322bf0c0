//! Every statistic of one resample, from the counts of its cells, in one walk.

use super::{Scheme, cells::Cells, grid::Grid};
use crate::{
    Distribution,
    distribution::{as_f64, between, floor},
};

/// A row is: the mean; E[max]; the quantile at each share of the grid; the share of draws up to
/// each cut; and for blocks the share of draws up to the side's own quantile at each share of the
/// grid.
#[derive(Debug)]
pub(crate) struct Pass<'s> {
    side: &'s Distribution,
    pub(crate) cells: &'s Cells,
    pub(crate) requests: u32,
    /// Type 7 positions (n - 1) share of the grid's shares.
    positions: Vec<f64>,
    /// A cell, and the share of it before the position, for the cuts and the side's own shares.
    cuts: Vec<(usize, f64)>,
    own: Vec<(usize, f64)>,
}

impl<'s> Pass<'s> {
    pub(crate) fn new(
        side: &'s Distribution,
        cells: &'s Cells,
        grid: &Grid,
        requests: u32,
        scheme: Scheme<'_>,
    ) -> Self {
        let n = as_f64(side.n());
        Self {
            side,
            cells,
            requests,
            positions: grid.shares.iter().map(|share| (n - 1.0) * share).collect(),
            cuts: grid.cuts.iter().map(|&cut| cells.place(as_f64(side.at_most(cut)))).collect(),
            own: match scheme.blocks() {
                None => Vec::new(),
                Some(_) => grid.shares.iter().map(|share| cells.place(share * n)).collect(),
            },
        }
    }

    /// Numbers in a row.
    pub(crate) fn width(&self) -> usize {
        QUANTILES + self.positions.len() + self.cuts.len() + self.own.len()
    }

    pub(crate) fn cuts(&self) -> usize {
        QUANTILES + self.positions.len()
    }

    pub(crate) fn own(&self) -> usize {
        self.cuts() + self.cuts.len()
    }

    /// `cumulative` is a workspace.
    pub(crate) fn fill(&self, counts: &[usize], cumulative: &mut Vec<usize>, row: &mut [f64]) {
        cumulative.clear();
        cumulative.push(0);
        let (mut total, mut sum) = (0, 0.0);
        for (&count, mean) in counts.iter().zip(&self.cells.means) {
            total += count;
            sum += as_f64(count) * mean;
            cumulative.push(total);
        }
        row[MEAN] = sum / as_f64(total);
        row[EXPECTED] = if self.requests == 1 { row[MEAN] } else { self.expected_maximum(cumulative) };
        self.quantiles(counts, cumulative, &mut row[QUANTILES..self.cuts()]);
        let up_to = |&(cell, part): &(usize, f64)| {
            (as_f64(cumulative[cell]) + part * as_f64(counts[cell])) / as_f64(total)
        };
        for (share, place) in row[self.cuts()..].iter_mut().zip(self.cuts.iter().chain(&self.own)) {
            *share = up_to(place);
        }
    }

    /// Sum over cells of mean (G - G before), G = F^N. F^N is linear within a cell, which shifts
    /// E[max] by less than a millionth.
    fn expected_maximum(&self, cumulative: &[usize]) -> f64 {
        let n = as_f64(cumulative[self.cells.len()]);
        // exp(-46) = 1e-20.
        let least = n * (-46.0 / f64::from(self.requests)).exp();
        let from = cumulative.partition_point(|&up_to| as_f64(up_to) < least).max(1);
        let (mut before, mut sum) = (0.0, 0.0);
        let mut means = self.cells.means[from - 1..].iter();
        for chunk in cumulative[from..].chunks(LANES) {
            let mut shares = [0.0; LANES];
            for (share, &up_to) in shares.iter_mut().zip(chunk) {
                *share = as_f64(up_to) / n;
            }
            for (power, mean) in
                powers(shares, self.requests).into_iter().zip(means.by_ref().take(chunk.len()))
            {
                sum += mean * (power - before);
                before = power;
            }
        }
        sum
    }

    fn quantiles(&self, counts: &[usize], cumulative: &[usize], row: &mut [f64]) {
        let mut cell = 0;
        for (quantile, &position) in row.iter_mut().zip(&self.positions) {
            let below = floor(position);
            cell += cumulative[cell + 1..self.cells.len()].partition_point(|&up_to| up_to <= below);
            let low = self.draw_at(cell, below, counts, cumulative);
            let part = position - as_f64(below);
            *quantile = if part > 0.0 {
                let next = (cell..self.cells.len() - 1).find(|&cell| cumulative[cell + 1] > below + 1);
                let next = next.unwrap_or(self.cells.len() - 1);
                between(low, self.draw_at(next, below + 1, counts, cumulative), part)
            } else {
                low
            };
        }
    }

    fn draw_at(&self, cell: usize, rank: usize, counts: &[usize], cumulative: &[usize]) -> f64 {
        let size = self.cells.size(cell);
        if size == 1 || self.side.relative_error().is_some() {
            return self.cells.means[cell];
        }
        let part = (as_f64(rank - cumulative[cell]) + 0.5) / as_f64(counts[cell]);
        self.side.at_rank(self.cells.starts[cell] + floor(part * as_f64(size)).min(size - 1))
    }
}

/// By repeated squaring of all shares in parallel.
fn powers(mut squares: [f64; LANES], mut exponent: u32) -> [f64; LANES] {
    let mut powers = [1.0; LANES];
    while exponent > 0 {
        if exponent & 1 == 1 {
            powers.iter_mut().zip(&squares).for_each(|(power, square)| *power *= square);
        }
        squares.iter_mut().for_each(|square| *square *= *square);
        exponent >>= 1;
    }
    powers
}

pub(crate) const MEAN: usize = 0;
pub(crate) const EXPECTED: usize = 1;
pub(crate) const QUANTILES: usize = 2;

/// Shares per batch, for the processor's vectors.
const LANES: usize = 8;

#[cfg(test)]
mod tests;
