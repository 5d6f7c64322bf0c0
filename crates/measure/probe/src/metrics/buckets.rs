//! A histogram with fixed buckets.

use std::sync::LazyLock;

/// Seconds: powers of the square root of 2, which are also bounds of Prometheus' native histograms
/// of schema 1.
pub(super) static BOUNDS: LazyLock<[f64; COUNT]> =
    LazyLock::new(|| std::array::from_fn(|at| 2_f64.powf(at as f64 / 2.0 - 14.0)));

pub(super) const COUNT: usize = 41;

#[derive(Debug, Clone)]
pub(super) struct Buckets {
    /// The last bucket is for values beyond the last bound.
    counts: [u64; COUNT + 1],
    sum_ns: u128,
}

impl Buckets {
    pub(super) fn add(&mut self, nanos: u64) {
        let seconds = nanos as f64 / 1e9;
        self.counts[BOUNDS.partition_point(|bound| *bound < seconds)] += 1;
        self.sum_ns += u128::from(nanos);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(other.counts).for_each(|(sum, n)| *sum += n);
        self.sum_ns += other.sum_ns;
    }

    pub(super) fn counts(&self) -> &[u64] {
        &self.counts
    }

    pub(super) fn n(&self) -> u64 {
        self.counts.iter().sum()
    }

    pub(super) fn sum_s(&self) -> f64 {
        self.sum_ns as f64 / 1e9
    }
}

impl Default for Buckets {
    fn default() -> Self {
        Self { counts: [0; COUNT + 1], sum_ns: 0 }
    }
}
