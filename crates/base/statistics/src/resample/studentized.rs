//! The difference of two sides in units of its standard error, for any permutation of their
//! samples.

use super::{
    pooled::Pooled,
    relabel::{Deal, Relabel},
};
use crate::distribution::{as_f64, floor};

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) value_ms: f64,
    pub(crate) variance: f64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Estimates {
    pub(crate) means: [Estimate; 2],
    pub(crate) expected: [Estimate; 2],
    pub(crate) shares: [f64; 2],
}

#[derive(Debug)]
pub(crate) struct Studentizer<'p> {
    pooled: &'p Pooled,
    relabel: &'p Relabel,
    requests: u32,
    /// Sums are relative to the mean of all samples, so that they do not cancel.
    centre: f64,
    sums: Vec<f64>,
    tails: [Tail; 2],
}

#[derive(Debug, Default)]
struct Tail {
    /// F^(N-1) of each.
    powers: Vec<f64>,
    /// F^N of each.
    below: Vec<f64>,
    /// Without the factor 1/n.
    influence: Vec<f64>,
}

impl<'p> Studentizer<'p> {
    pub(crate) fn new(pooled: &'p Pooled, relabel: &'p Relabel, requests: u32) -> Self {
        let all: usize = pooled.sizes.iter().sum();
        let sum: f64 = pooled.sizes.iter().zip(&pooled.means).map(|(&size, mean)| as_f64(size) * mean).sum();
        let centre = sum / as_f64(all);
        let sums = match relabel {
            Relabel::Single(_) => Vec::new(),
            Relabel::Stretches(stretches) => {
                let sum =
                    |cells: &[u32]| cells.iter().map(|&cell| pooled.means[cell as usize] - centre).sum();
                stretches.iter().map(sum).collect()
            }
        };
        Self { pooled, relabel, requests, centre, sums, tails: Default::default() }
    }

    pub(crate) fn estimates(&mut self, deal: &Deal) -> Estimates {
        let means = self.means(deal);
        let request = self.share_of_requests(deal);
        if self.requests == 1 {
            return Estimates { means, expected: means, shares: [request; 2] };
        }
        let expected = self.expected_maxima(deal);
        let [first, second] = &self.tails;
        let page = share_faster(first.below.iter().copied().zip(second.below.iter().copied()));
        Estimates { means, expected, shares: [request, page] }
    }

    fn share_of_requests(&self, deal: &Deal) -> f64 {
        let totals = self.relabel.totals();
        let first: usize = deal.counts.iter().sum();
        let (n, m) = (as_f64(first), as_f64(totals.iter().sum::<usize>() - first));
        let (mut ours, mut theirs) = (0, 0);
        share_faster(deal.counts.iter().zip(totals).map(|(&of_first, &all)| {
            ours += of_first;
            theirs += all - of_first;
            (as_f64(ours) / n, as_f64(theirs) / m)
        }))
    }

    fn means(&self, deal: &Deal) -> [Estimate; 2] {
        let mut sums = [Sums::default(); 2];
        match self.relabel {
            Relabel::Single(_) => {
                let cells = deal.counts.iter().zip(self.relabel.totals()).zip(&self.pooled.means);
                for ((&of_first, &all), mean) in cells {
                    let value = mean - self.centre;
                    sums[0].add(as_f64(of_first), value);
                    sums[1].add(as_f64(all - of_first), value);
                }
                sums.map(|sums| sums.of_samples(self.centre))
            }
            Relabel::Stretches(stretches) => {
                for ((cells, sum), &label) in stretches.iter().zip(&self.sums).zip(&deal.stretches) {
                    let side = &mut sums[usize::from(!label)];
                    side.n += as_f64(cells.len());
                    side.sum += sum;
                }
                let means = sums.map(|side| side.sum / side.n);
                let mut squares = [0.0; 2];
                for ((cells, sum), &label) in stretches.iter().zip(&self.sums).zip(&deal.stretches) {
                    let side = usize::from(!label);
                    squares[side] += (sum - as_f64(cells.len()) * means[side]).powi(2);
                }
                let number = stretches.of_sides();
                [0, 1].map(|side| Estimate {
                    value_ms: self.centre + means[side],
                    variance: per_draw(squares[side], number[side]) / sums[side].n.powi(2),
                })
            }
        }
    }

    /// The influence of a sample is minus the integral of N F^(N-1) from it upwards.
    fn expected_maxima(&mut self, deal: &Deal) -> [Estimate; 2] {
        let totals = self.relabel.totals();
        let first: usize = deal.counts.iter().sum();
        let n = [first, totals.iter().sum::<usize>() - first];
        let requests = f64::from(self.requests);
        // exp(-46) = 1e-20.
        let least = n.map(|n| floor(as_f64(n) * (-46.0 / requests).exp()));
        let (mut up_to, mut from) = ([0, 0], 0);
        for (&of_first, &all) in deal.counts.iter().zip(totals) {
            let next = [up_to[0] + of_first, up_to[1] + all - of_first];
            if next[0] > least[0] || next[1] > least[1] {
                break;
            }
            (up_to, from) = (next, from + 1);
        }
        let means = &self.pooled.means[from..];
        let mut values = [0.0; 2];
        for (side, tail) in self.tails.iter_mut().enumerate() {
            let (mut up_to, mut power, mut before) = (up_to[side], 0.0, 0.0);
            tail.powers.clear();
            tail.below.clear();
            for ((&of_first, &all), mean) in deal.counts[from..].iter().zip(&totals[from..]).zip(means) {
                let count = if side == 0 { of_first } else { all - of_first };
                if count > 0 {
                    up_to += count;
                    let share = as_f64(up_to) / as_f64(n[side]);
                    power = share.powi(self.requests.cast_signed() - 1);
                    let now = power * share;
                    values[side] += mean * (now - before);
                    before = now;
                }
                tail.powers.push(power);
                tail.below.push(before);
            }
            tail.influence.clear();
            tail.influence.resize(means.len(), 0.0);
            let mut influence = 0.0;
            for cell in (0..means.len() - 1).rev() {
                influence -= requests * tail.powers[cell] * (means[cell + 1] - means[cell]);
                tail.influence[cell] = influence;
            }
        }
        let variances = self.variances(deal, from, n);
        [0, 1].map(|side| Estimate { value_ms: values[side], variance: variances[side] })
    }

    /// The cells below `from` have the influence of the lowest.
    fn variances(&self, deal: &Deal, from: usize, n: [usize; 2]) -> [f64; 2] {
        let totals = self.relabel.totals();
        let lowest = [0, 1].map(|side| self.tails[side].influence[0]);
        let mut sums = [Sums::default(); 2];
        for (cell, (&of_first, &all)) in deal.counts[from..].iter().zip(&totals[from..]).enumerate() {
            for (side, count) in [of_first, all - of_first].into_iter().enumerate() {
                sums[side].add(as_f64(count), self.tails[side].influence[cell] - lowest[side]);
            }
        }
        // Lower samples only contribute their number to the sums.
        for side in 0..2 {
            sums[side].n = as_f64(n[side]);
        }
        let Relabel::Stretches(stretches) = self.relabel else {
            return sums.map(|sums| sums.of_samples(0.0).variance);
        };
        let mut squares = [0.0; 2];
        for (cells, &label) in stretches.iter().zip(&deal.stretches) {
            let side = usize::from(!label);
            let influence = |&cell: &u32| match (cell as usize).checked_sub(from) {
                Some(cell) => self.tails[side].influence[cell] - lowest[side],
                None => 0.0,
            };
            let sum: f64 = cells.iter().map(influence).sum();
            squares[side] += (sum - as_f64(cells.len()) * sums[side].sum / sums[side].n).powi(2);
        }
        let number = stretches.of_sides();
        [0, 1].map(|side| per_draw(squares[side], number[side]) / as_f64(n[side]).powi(2))
    }
}

/// From both distribution functions, cell by cell.
fn share_faster(below: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (mut sum, mut before) = (0.0, (0.0, 0.0));
    for now in below {
        sum += (now.0 - before.0) * (1.0 - f64::midpoint(before.1, now.1));
        before = now;
    }
    sum
}

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    n: f64,
    sum: f64,
    squares: f64,
}

impl Sums {
    fn add(&mut self, count: f64, value: f64) {
        self.n += count;
        self.sum += count * value;
        self.squares += count * value * value;
    }

    fn of_samples(self, centre: f64) -> Estimate {
        let mean = self.sum / self.n;
        let squares = (self.squares - self.sum * mean).max(0.0);
        Estimate { value_ms: centre + mean, variance: squares / self.n / (self.n - 1.0).max(1.0) }
    }
}

/// Corrected for the bias of the estimated mean.
pub(crate) fn per_draw(squares: f64, draws: usize) -> f64 {
    squares * as_f64(draws) / as_f64(draws - 1).max(1.0)
}
