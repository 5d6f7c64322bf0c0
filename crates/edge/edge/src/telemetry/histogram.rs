//! A histogram of durations with fixed bounds, for Prometheus.

use std::{
    array,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

/// The last bucket has no bound.
#[derive(Debug, Default)]
pub(crate) struct DurationHistogram {
    buckets: [AtomicU64; BUCKETS],
    sum_ns: AtomicU64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct DurationCounts {
    pub(crate) buckets: [u64; BUCKETS],
    pub(crate) sum_ns: u64,
}

impl DurationHistogram {
    pub(crate) fn observe(&self, ns: u64) {
        let bucket = BOUNDS_US.partition_point(|bound| bound.saturating_mul(1000) < ns);
        if let Some(count) = self.buckets.get(bucket) {
            count.fetch_add(1, Relaxed);
        }
        self.sum_ns.fetch_add(ns, Relaxed);
    }

    pub(crate) fn counts(&self) -> DurationCounts {
        let buckets = array::from_fn(|bucket| self.buckets[bucket].load(Relaxed));
        DurationCounts { buckets, sum_ns: self.sum_ns.load(Relaxed) }
    }
}

impl DurationCounts {
    pub(crate) fn add(&mut self, other: &Self) {
        self.buckets.iter_mut().zip(other.buckets).for_each(|(count, more)| *count += more);
        self.sum_ns += other.sum_ns;
    }

    pub(crate) fn total(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// Returns each upper bound in seconds with the number of durations up to it.
    pub(crate) fn cumulative(&self) -> impl Iterator<Item = (f64, u64)> {
        let mut sum = 0;
        BOUNDS_US.into_iter().zip(self.buckets).map(move |(bound, count)| {
            sum += count;
            #[expect(clippy::cast_precision_loss, reason = "the bounds are below 2^53")]
            let seconds = bound as f64 / 1e6;
            (seconds, sum)
        })
    }
}

const BUCKETS: usize = BOUNDS_US.len() + 1;

/// In microseconds: about a factor of two apart, from a response of the cache to the default of
/// `first_byte`.
const BOUNDS_US: [u64; 15] = [
    500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    5_000_000, 10_000_000, 30_000_000,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_counted_up_to_each_bound() {
        let histogram = DurationHistogram::default();
        for us in [0, 500, 501, 30_000_000, 30_000_001] {
            histogram.observe(us * 1000);
        }
        let mut counts = histogram.counts();
        let cumulative: Vec<_> = counts.cumulative().collect();
        assert_eq!((cumulative[0], cumulative[1], cumulative[14]), ((0.0005, 2), (0.001, 3), (30.0, 4)));
        assert_eq!((counts.total(), counts.sum_ns), (5, 60_001_002_000));
        counts.add(&histogram.counts());
        assert_eq!((counts.total(), counts.sum_ns), (10, 120_002_004_000));
    }
}
