//! A histogram of nanoseconds with a stated error, for recordings too large to store exactly.
//!
//! Its buckets are those of [HdrHistogram](http://hdrhistogram.org): each power of two is split
//! into equal parts, never wider than the requested share of their value.

use crate::Bucket;

pub(crate) mod encoding;

/// Counts of latencies, in buckets whose width is a fixed share of their value.
#[derive(Debug, Clone)]
pub struct Histogram {
    layout: Layout,
    digits: u8,
    /// Up to the end of the power of two of the largest value so far.
    counts: Vec<u64>,
    total: u64,
}

impl Histogram {
    /// An empty histogram of 1 to 5 significant decimal digits: three digits are 0.05 % of error.
    /// Other numbers are clamped.
    pub fn new(digits: u8) -> Self {
        let digits = digits.clamp(1, 5);
        Self { layout: Layout::new(digits, 0), digits, counts: Vec::new(), total: 0 }
    }

    /// Counts one event.
    #[inline]
    pub fn record(&mut self, nanoseconds: u64) {
        self.record_n(nanoseconds, 1);
    }

    /// Counts `count` events. Latencies above [`Histogram::LARGEST_NS`] and counts above 2^64 are
    /// clamped.
    #[inline]
    pub fn record_n(&mut self, nanoseconds: u64, count: u64) {
        let index = self.layout.index(nanoseconds.min(Self::LARGEST_NS));
        if index >= self.counts.len() {
            self.grow(index);
        }
        self.counts[index] = self.counts[index].saturating_add(count);
        self.total = self.total.saturating_add(count);
    }

    /// Adds another histogram's counts. The digits of `self` stay.
    pub fn merge(&mut self, other: &Self) {
        if self.layout != other.layout {
            let buckets = other.counts.iter().enumerate().filter(|(_, count)| **count > 0);
            for (index, &count) in buckets {
                let Some(Range { low, width }) = other.layout.range(index) else { break };
                self.record_n(low + width / 2, count);
            }
            return;
        }
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        let pairs = self.counts.iter_mut().zip(&other.counts);
        match self.total.checked_add(other.total) {
            // No count is larger than the total, so none overflows.
            Some(total) => {
                pairs.for_each(|(mine, others)| *mine = mine.wrapping_add(*others));
                self.total = total;
            }
            None => {
                pairs.for_each(|(mine, others)| *mine = mine.saturating_add(*others));
                self.total = u64::MAX;
            }
        }
    }

    /// Events counted.
    pub fn count(&self) -> u64 {
        self.total
    }

    /// The counts, ascending, at the middles of buckets.
    pub fn buckets(&self) -> Vec<Bucket> {
        let bucket = |(range, count): (Range, u64)| {
            let [value_ms, low_ms, high_ms] =
                [range.middle(), range.low as f64, range.high() as f64].map(|ns| ns / 1e6);
            Bucket { value_ms, low_ms, high_ms, count }
        };
        self.ranges().map(bucket).collect()
    }

    /// The maximum relative error of a value.
    pub fn relative_error(&self) -> f64 {
        relative_error(self.digits)
    }

    pub(crate) fn ranges(&self) -> impl Iterator<Item = (Range, u64)> {
        let counts = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        counts.filter_map(|(index, &count)| Some((self.layout.range(index)?, count)))
    }

    pub(crate) fn counts(&self) -> &[u64] {
        let length = self.counts.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
        &self.counts[..length]
    }

    pub(crate) fn digits(&self) -> u8 {
        self.digits
    }

    /// The largest value of the bucket of the largest event; 0 without events.
    pub(crate) fn max(&self) -> u64 {
        let last = self.counts().len().checked_sub(1);
        last.and_then(|last| self.layout.range(last)).map_or(0, |range| range.high())
    }

    /// Buckets and SubBuckets in the output of the Java library.
    pub(crate) fn shape(&self) -> (u64, u64) {
        let parts = self.layout.parts();
        let halves = (self.counts().len() as u64).div_ceil(parts / 2);
        (halves.saturating_sub(1).max(1), parts)
    }

    #[cold]
    fn grow(&mut self, index: usize) {
        self.counts.resize(self.layout.end_of_octave(index), 0);
    }

    /// 292 years.
    pub const LARGEST_NS: u64 = i64::MAX as u64;
}

/// The first `2 * 2^half_bits` buckets are one unit wide; each further power of two has
/// `2^half_bits` buckets, twice as wide as those before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The unit is `2^unit_bits`: finer differences are lost.
    unit_bits: u32,
    half_bits: u32,
}

/// `width` whole numbers from `low`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    pub low: u64,
    pub width: u64,
}

impl Range {
    pub(crate) fn middle(self) -> f64 {
        self.low as f64 + (self.width - 1) as f64 / 2.0
    }

    pub(crate) fn high(self) -> u64 {
        self.low + (self.width - 1)
    }
}

impl Layout {
    /// With d digits the numbers up to 2 * 10^d are told apart.
    pub(crate) fn new(digits: u8, unit_bits: u32) -> Self {
        let told_apart = (2 * 10_u32.pow(u32::from(digits.min(5)))).next_power_of_two();
        Self { unit_bits, half_bits: told_apart.trailing_zeros() - 1 }
    }

    #[inline]
    fn index(self, value: u64) -> usize {
        let units = value >> self.unit_bits;
        let first = (2 << self.half_bits) - 1;
        let octave = (u64::BITS - self.half_bits - 1) - (units | first).leading_zeros();
        #[expect(clippy::cast_possible_truncation, reason = "a part has up to half_bits + 1 bits, 18")]
        let part = (units >> octave) as usize;
        ((octave as usize) << self.half_bits) + part
    }

    /// `None` above 2^63.
    pub(crate) fn range(self, index: usize) -> Option<Range> {
        let octave = (index >> self.half_bits).saturating_sub(1);
        let part = (index - (octave << self.half_bits)) as u64;
        let bits = u32::try_from(octave).ok()?.checked_add(self.unit_bits)?;
        // A part has up to half_bits + 1 bits.
        (bits + self.half_bits < 63).then(|| Range { low: part << bits, width: 1 << bits })
    }

    pub(crate) fn end_of_octave(self, index: usize) -> usize {
        let half = 1 << self.half_bits;
        (index + 1).next_multiple_of(half)
    }

    pub(crate) fn parts(self) -> u64 {
        2 << self.half_bits
    }
}

/// Half the width of a bucket as a share of its value, at most.
pub(crate) fn relative_error(digits: u8) -> f64 {
    let parts = 10_u32.pow(u32::from(digits.min(5))).next_power_of_two();
    0.5 / f64::from(parts)
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram as Reference;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_largest_value_has_a_bucket() {
        for digits in 1..=5 {
            let mut histogram = Histogram::new(digits);
            histogram.record(u64::MAX);
            assert_eq!((histogram.count(), histogram.max()), (1, Histogram::LARGEST_NS));
            assert_eq!(histogram.buckets().len(), 1);
        }
    }

    #[test]
    fn counts_stop_at_the_largest_number() {
        let mut histogram = Histogram::new(3);
        histogram.record_n(5, u64::MAX - 1);
        histogram.merge(&histogram.clone());
        assert_eq!((histogram.count(), histogram.buckets()[0].count), (u64::MAX, u64::MAX));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn a_value_stays_within_its_stated_error(value in 1..1_u64 << 60, digits in 1..6_u8) {
            let mut histogram = Histogram::new(digits);
            histogram.record(value);
            let [bucket] = histogram.buckets()[..] else { panic!("one bucket") };
            let error = (bucket.value_ms * 1e6 - value as f64).abs() / value as f64;
            // And the rounding of f64 itself.
            prop_assert!(error <= histogram.relative_error() + 1e-15, "{} of {}", error, histogram.relative_error());
        }

        #[test]
        fn buckets_are_those_of_the_reference(value in 0..1_u64 << 62, digits in 1..6_u8) {
            let (mut histogram, mut reference) = (Histogram::new(digits), Reference::<u64>::new(digits).unwrap());
            histogram.record(value);
            reference.record(value).unwrap();
            let (range, _) = histogram.ranges().next().unwrap();
            prop_assert_eq!((range.low, range.width), (reference.lowest_equivalent(value), reference.equivalent_range(value)));
            prop_assert_eq!(histogram.max(), reference.max());
        }

        #[test]
        fn merging_is_counting_all(first in prop::collection::vec(0..1_u64 << 40, 0..50), second in prop::collection::vec(0..1_u64 << 50, 0..50)) {
            let of = |values: &[u64]| {
                let mut histogram = Histogram::new(3);
                values.iter().for_each(|&value| histogram.record(value));
                histogram
            };
            let mut merged = of(&first);
            merged.merge(&of(&second));
            prop_assert_eq!(merged.count(), (first.len() + second.len()) as u64);
            prop_assert_eq!(merged.buckets(), of(&[first, second].concat()).buckets());
        }

        #[test]
        fn merging_into_other_digits_keeps_the_count(values in prop::collection::vec(0..1_u64 << 40, 0..50)) {
            let mut fine = Histogram::new(5);
            values.iter().for_each(|&value| fine.record(value));
            let mut coarse = Histogram::new(2);
            coarse.merge(&fine);
            prop_assert_eq!(coarse.count(), fine.count());
        }
    }
}
