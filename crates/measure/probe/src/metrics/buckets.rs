//! A histogram with fixed buckets.

use std::sync::LazyLock;

/// Upper bounds of the buckets in seconds: powers of the square root of 2, from 61 us to 64 s. These are also
/// bounds of Prometheus' native histograms of schema 1, so that a conversion loses nothing.
pub(super) static BOUNDS: LazyLock<[f64; COUNT]> =
    LazyLock::new(|| std::array::from_fn(|at| 2_f64.powf(at as f64 / 2.0 - 14.0)));

/// From 2^-14 to 2^6, in steps of a half.
pub(super) const COUNT: usize = 41;

/// The number of values in each bucket.
#[derive(Debug, Clone)]
pub(super) struct Buckets {
    /// The last bucket is for values beyond the last bound.
    counts: [u64; COUNT + 1],
    sum_ns: u128,
}

impl Buckets {
    /// Counts a time in ns.
    pub(super) fn add(&mut self, nanos: u64) {
        let seconds = nanos as f64 / 1e9;
        self.counts[BOUNDS.partition_point(|bound| *bound < seconds)] += 1;
        self.sum_ns += u128::from(nanos);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(other.counts).for_each(|(sum, n)| *sum += n);
        self.sum_ns += other.sum_ns;
    }

    /// The number of values in each bucket, and beyond the last bound.
    pub(super) fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The total number of values.
    pub(super) fn n(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The sum of all values in seconds.
    pub(super) fn sum_s(&self) -> f64 {
        self.sum_ns as f64 / 1e9
    }
}

impl Default for Buckets {
    fn default() -> Self {
        Self { counts: [0; COUNT + 1], sum_ns: 0 }
    }
}
