//! When k of m requests are there: the expected k-th smallest of m independent draws from a sample.
//!
//! X_(k:m) is above x exactly if fewer than k of the m draws are at most x. So with F the share of samples
//! up to x,
//!
//! ```text
//! P(X_(k:m) > x) = P(Bin(m, F) < k) = 1 - I_F(k, m - k + 1)
//! E X_(k:m) = x_(1) + sum for i in 1..n of (x_(i+1) - x_(i)) P(Bin(m, i/n) < k)
//! ```
//!
//! which is the definition, sum of x_(i) [I_{i/n}(k, m - k + 1) - I_{(i-1)/n}(k, m - k + 1)], summed by
//! parts: every term is positive, nothing cancels. The incomplete beta function is summed as the binomial
//! tail that it is, from the term next to k outwards; that term comes from Loader's saddle-point form (C.
//! Loader, Fast and Accurate Computation of Binomial Probabilities, 2000), which is right to about 14
//! digits even for m = 10^6, where a difference of log-gammas has lost five.

use std::f64::consts::TAU;

use crate::{
    distribution::as_f64,
    sum::{Sum, sum},
};

/// A sorted sample in about 2500 steps, with an error of second order in 1/2000.
pub(crate) struct Condensed {
    n: usize,
    /// The rank (from 1) up to which each step reaches, and its mean.
    steps: Vec<(usize, f64)>,
}

impl Condensed {
    /// The sample must be sorted and not empty.
    pub(crate) fn new(sorted: &[f64]) -> Self {
        let n = sorted.len();
        let mut steps = Vec::new();
        let mut high = n;
        while high > 0 {
            let size = (1 + ((n - high) / 100).min(n / 2000)).min(high);
            let mean = sum(sorted[high - size..high].iter().copied()) / as_f64(size);
            steps.push((high, mean));
            high -= size;
        }
        steps.reverse();
        Self { n, steps }
    }

    /// E X_(k:m), ms.
    pub(crate) fn expected(&self, kth: u32, of: u32) -> f64 {
        by_parts(self.steps.len(), self.n, |step| self.steps[step], kth, of)
    }

    /// The influence function, up to a constant, of the mixture sum of weight E X_(k:m): one number
    /// per step, and the rank up to which it holds.
    pub(crate) fn influence(&self, mixture: &[(f64, u32, u32)]) -> Vec<(usize, f64)> {
        let mut influence = vec![0.0; self.steps.len()];
        for step in (0..self.steps.len() - 1).rev() {
            let (rank, value) = self.steps[step];
            let gap = self.steps[step + 1].1 - value;
            influence[step] =
                influence[step + 1] - if gap > 0.0 { gap * density(mixture, rank, self.n) } else { 0.0 };
        }
        self.steps.iter().map(|step| step.0).zip(influence).collect()
    }
}

/// Sum of weight x beta(k, m - k + 1) density at rank/n: m P(Bin(m - 1, F) = k - 1).
fn density(mixture: &[(f64, u32, u32)], rank: usize, n: usize) -> f64 {
    let (p, q) = (as_f64(rank) / as_f64(n), as_f64(n - rank) / as_f64(n));
    mixture.iter().map(|&(weight, kth, of)| weight * f64::from(of) * exactly(kth - 1, of - 1, p, q)).sum()
}

/// `step` returns the rank (from 1) and the value.
fn by_parts(count: usize, n: usize, step: impl Fn(usize) -> (usize, f64), kth: u32, of: u32) -> f64 {
    let fewer = |index: usize| {
        let rank = step(index).0;
        fewer_than(kth, of, as_f64(rank) / as_f64(n), as_f64(n - rank) / as_f64(n))
    };
    // Below the first step at which the chance differs from 1 the gaps add up to a sample.
    let (mut low, mut high) = (0, count - 1);
    while low < high {
        let middle = low.midpoint(high);
        if fewer(middle) < 1.0 { high = middle } else { low = middle + 1 }
    }
    let mut total = Sum::default();
    total.add(step(low).1);
    for index in low..count - 1 {
        let gap = step(index + 1).1 - step(index).1;
        if gap > 0.0 {
            total.add(gap * fewer(index));
        }
    }
    total.value()
}

/// P(Bin(m, p) < k) for 1 <= k <= m, with q = 1 - p given so that neither loses digits.
pub(crate) fn fewer_than(kth: u32, of: u32, p: f64, q: f64) -> f64 {
    if p <= 0.0 {
        return 1.0;
    }
    if q <= 0.0 {
        return 0.0;
    }
    let m = f64::from(of);
    if f64::from(kth) <= m * p {
        let ratio = |j: f64| j / (m - j + 1.0) * (q / p);
        tail(exactly(kth - 1, of, p, q), f64::from(kth - 1), -1.0, ratio)
    } else {
        let ratio = |j: f64| (m - j) / (j + 1.0) * (p / q);
        (1.0 - tail(exactly(kth, of, p, q), f64::from(kth), 1.0, ratio)).max(0.0)
    }
}

/// `ratio` is that of a term to the one before it; it must fall, and be 0 at 0 or m.
fn tail(first: f64, mut j: f64, step: f64, ratio: impl Fn(f64) -> f64) -> f64 {
    let (mut term, mut total) = (first, first);
    while term > total * 1e-17 {
        term *= ratio(j);
        j += step;
        total += term;
    }
    total
}

/// P(Bin(m, p) = k) for 0 < p < 1, after Loader.
fn exactly(k: u32, of: u32, p: f64, q: f64) -> f64 {
    let (x, m) = (f64::from(k), f64::from(of));
    if k == 0 {
        return (m * if p < 0.5 { (-p).ln_1p() } else { q.ln() }).exp();
    }
    if k == of {
        return (m * if q < 0.5 { (-q).ln_1p() } else { p.ln() }).exp();
    }
    let exponent = stirling_error(of) - stirling_error(k) - stirling_error(of - k);
    let exponent = exponent - deviance(x, m * p) - deviance(m - x, m * q);
    exponent.exp() * (m / (TAU * x * (m - x))).sqrt()
}

/// ln k! minus Stirling's formula, for k >= 1.
fn stirling_error(k: u32) -> f64 {
    if let Some(&exact) = STIRLING_ERRORS.get(k as usize - 1) {
        return exact;
    }
    // The next term of the series is 691/(360360 k^11): 2e-16 of the first at k = 16.
    let k = f64::from(k);
    let square = k * k;
    let series = 1.0 / 1260.0 - (1.0 / 1680.0 - 1.0 / (1188.0 * square)) / square;
    (1.0 / 12.0 - (1.0 / 360.0 - series / square) / square) / k
}

/// x ln(x/mean) + mean - x, without cancellation.
fn deviance(x: f64, mean: f64) -> f64 {
    let difference = x - mean;
    if difference.abs() >= 0.1 * (x + mean) {
        return x * (x / mean).ln() - difference;
    }
    let v = difference / (x + mean);
    let mut total = difference * v;
    let mut power = 2.0 * x * v;
    // v is at most 0.1: ten terms reach 1e-20.
    for j in 1..10 {
        power *= v * v;
        total += power / f64::from(2 * j + 1);
    }
    total
}

/// ln k! - (k + 1/2) ln k + k - ln(2 pi)/2 for k = 1, 2, ..., 15.
const STIRLING_ERRORS: [f64; 15] = [
    0.081_061_466_795_327_26,
    0.041_340_695_955_409_3,
    0.027_677_925_684_998_34,
    0.020_790_672_103_765_093,
    0.016_644_691_189_821_193,
    0.013_876_128_823_070_748,
    0.011_896_709_945_891_77,
    0.010_411_265_261_972_096,
    0.009_255_462_182_712_733,
    0.008_330_563_433_362_87,
    0.007_573_675_487_951_841,
    0.006_942_840_107_209_53,
    0.006_408_994_188_004_207,
    0.005_951_370_112_758_847_5,
    0.005_554_733_551_962_801,
];

#[cfg(test)]
mod tests;
