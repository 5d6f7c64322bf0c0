//! E[max of N] of a sample, exactly and for many N at the price of one pass.
//!
//! The definition, sum of x_(i) [(i/n)^N - ((i-1)/n)^N], subtracts numbers that are almost equal: with n =
//! 1e7 nine of sixteen digits are gone. Summed by parts it becomes a sum of gaps between neighbours,
//!
//! ```text
//! E = x_(1) + sum for i in 1..n of (x_(i+1) - x_(i)) (1 - (i/n)^N)
//! ```
//!
//! in which every term is positive, so nothing cancels, and below some i the factor is 1 and the terms add
//! up to a sample. Equal samples have no gap, so a histogram needs a term for each distinct value only, i
//! being the number of samples up to it. To evaluate it for hundreds of N, neighbouring i are taken
//! together: around a centre c, with i = c (1 + e),
//!
//! ```text
//! (i/n)^N = (c/n)^N (1 + e)^N = (c/n)^N (1 + sum over k of binomial(N, k) e^k)
//! ```
//!
//! so the moments sum of gap e^k of a block answer every N. Blocks are so narrow that N |e| stays near 1/2:
//! the first term left out is 0.52^15/15! < 1e-16.

use std::{array, ops::RangeInclusive};

use crate::{
    Distribution,
    distribution::{as_f64, floor},
    sum::Sum,
};

pub(crate) struct Blocks<'s> {
    side: &'s Distribution,
    /// Moments are in units of 1/widest, against underflow.
    widest: f64,
    blocks: Vec<Block>,
}

/// The gaps above the values `low..=high`, where the gap above value i is x_(i+1) - x_(i), from 1.
struct Block {
    low: usize,
    rank: usize,
    gap: f64,
    /// ln(c/n) of the centre c.
    ln_share: f64,
    /// Sum of gap (e widest)^k for k = 1, 2, ...
    moments: [f64; ORDER],
}

impl<'s> Blocks<'s> {
    /// `requests` start at 1 or more.
    pub(crate) fn new(side: &'s Distribution, requests: RangeInclusive<u32>) -> Self {
        let widest = *requests.end();
        let lowest_rank = lowest_rank(side.n(), *requests.start());
        let mut blocks = Vec::new();
        let mut high = side.values().len() - 1;
        while high >= 1 && side.up_to(high) >= lowest_rank {
            let rank = side.up_to(high);
            let narrowest =
                (rank + 1).saturating_sub(block_size(rank, side.n(), widest as usize)).max(lowest_rank);
            let mut low = high;
            while low > 1 && side.up_to(low - 1) >= narrowest {
                low -= 1;
            }
            blocks.push(Block::new(side, low, high, f64::from(widest)));
            high = low - 1;
        }
        blocks.reverse();
        Self { side, widest: f64::from(widest), blocks }
    }

    /// In ms. `requests` must lie in the range of [`Self::new`].
    pub(crate) fn expected_maximum(&self, requests: u32) -> f64 {
        let lowest = lowest_rank(self.side.n(), requests);
        let needed = &self.blocks[self.blocks.partition_point(|block| block.rank < lowest)..];
        let Some(first) = needed.first() else { return self.side.max() };
        let coefficients = self.coefficients(f64::from(requests));
        let mut sum = Sum::default();
        sum.add(self.side.values()[first.low - 1]);
        sum.extend(needed.iter().map(|block| block.expected(f64::from(requests), &coefficients)));
        sum.value()
    }

    /// binomial(N, k) / widest^k for k = 1, 2, ...
    fn coefficients(&self, requests: f64) -> [f64; ORDER] {
        let mut coefficient = 1.0;
        array::from_fn(|before| {
            let k = as_f64(before + 1);
            coefficient *= (requests - as_f64(before)).max(0.0) / (k * self.widest);
            coefficient
        })
    }
}

impl Block {
    fn new(side: &Distribution, low: usize, high: usize, widest: f64) -> Self {
        let values = side.values();
        let centre = f64::midpoint(as_f64(side.up_to(low)), as_f64(side.up_to(high)));
        let mut moments = [0.0; ORDER];
        for index in low..=high {
            let offset = (as_f64(side.up_to(index)) - centre) / centre * widest;
            let mut power = values[index] - values[index - 1];
            if power > 0.0 && offset != 0.0 {
                for moment in &mut moments {
                    power *= offset;
                    *moment += power;
                }
            }
        }
        let gap = values[high] - values[low - 1];
        Self { low, rank: side.up_to(high), gap, ln_share: ln_share(centre, as_f64(side.n())), moments }
    }

    fn expected(&self, requests: f64, coefficients: &[f64; ORDER]) -> f64 {
        let exponent = requests * self.ln_share;
        let bend: f64 = self.moments.iter().zip(coefficients).map(|(moment, factor)| moment * factor).sum();
        -exponent.exp_m1() * self.gap - exponent.exp() * bend
    }
}

/// ln(rank/n) without the rounding of rank/n near 1.
fn ln_share(rank: f64, n: f64) -> f64 {
    if 2.0 * rank > n { (-(n - rank) / n).ln_1p() } else { (rank / n).ln() }
}

/// Below it (i/n)^N is negligible, and the gaps add up to the sample at the rank.
fn lowest_rank(n: usize, requests: u32) -> usize {
    floor(as_f64(n) * (-DEPTH / f64::from(requests)).exp()).max(1)
}

/// |e| is at most about 1/(2 widest), and a block is no wider than its distance from n, where 1 -
/// (i/n)^N must keep its relative precision.
fn block_size(high: usize, n: usize, widest: usize) -> usize {
    1 + (high / widest).min(n - high)
}

const ORDER: usize = 14;

/// exp(-42) = 6e-19: a factor of 1 - 6e-19 is 1 in f64 (half a unit in the last place is 1.1e-16).
const DEPTH: f64 = 42.0;

#[cfg(test)]
mod tests;
