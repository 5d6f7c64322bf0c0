//! From the statistics in oha's JSON to counts: the known values by rank, and the possible values
//! at other ranks.

use std::collections::BTreeMap;

use crate::{Bucket, Counts};

/// In ms.
pub(super) struct Statistics {
    /// Upper ends of bins with their counts, ascending.
    pub bins: Vec<(f64, u64)>,
    pub percentiles: Vec<(f64, f64)>,
    pub fastest: Option<f64>,
    pub slowest: Option<f64>,
    pub count: u64,
}

/// Ascending, with the largest relative error of a value.
pub(super) type Rebuilt = (Vec<Bucket>, f64);

impl Statistics {
    /// Of bins with the same end, the file contains only one.
    pub(super) fn count(&self) -> u64 {
        self.bins.iter().map(|bin| bin.1).sum::<u64>().max(self.count)
    }

    pub(super) fn points(&self) -> usize {
        let percentiles = self.percentiles.iter().map(|&(_, value)| value);
        let mut values: Vec<f64> = self.bins.iter().map(|&(end, _)| end).chain(percentiles).collect();
        values.extend(self.fastest.into_iter().chain(self.slowest));
        values.sort_unstable_by(f64::total_cmp);
        // A bin's end is computed, and differs from the value by a rounding error.
        values.dedup_by(|next, kept| (*next - *kept).abs() <= ROUNDING * *next);
        values.len()
    }

    /// Stated values have their ranks; those between are in the middle of their bin. `None` if the
    /// values fall where their ranks rise.
    pub(super) fn rebuild(&self) -> Option<Rebuilt> {
        let count = self.count();
        if count == 0 {
            return Some(Rebuilt::default());
        }
        let known = self.ranks(count)?;
        let is_rising = known.values().is_sorted();
        if !is_rising {
            return None;
        }
        let (mut buckets, mut relative_error) = (Vec::<Bucket>::new(), 0.0_f64);
        let mut push = |bucket: Bucket| match buckets.last_mut() {
            Some(last) if last.value_ms == bucket.value_ms => last.absorb(bucket),
            _ => buckets.push(bucket),
        };
        let mut below: Option<(u64, f64)> = None;
        for (&rank, &value) in &known {
            if let Some((from, low)) = below {
                for (count, [low, high]) in self.between(from + 1, rank, [low, value]) {
                    let bucket = Bucket::between(low, high, count);
                    relative_error = relative_error.max(share((high - low) / 2.0, bucket.value_ms));
                    push(bucket);
                }
            }
            // The neighbour of a stated rank may have any value of its bin.
            let mut bucket = Bucket::exact(value, 1);
            if !self.is_stated(rank, count) {
                let [low, high] = self.range(rank);
                let above = known.range(rank + 1..).next().map_or(high, |(_, &above)| above);
                let under = below.map_or(low, |(_, under)| under);
                let ends = match [low.max(under), high.min(above)] {
                    [low, high] if low <= high => [low, high],
                    // The stated value takes precedence over bins that contradict it.
                    _ => [low, high],
                };
                let off = ends.iter().map(|end| (end - value).abs()).fold(0.0, f64::max);
                relative_error = relative_error.max(share(off, value));
                (bucket.low_ms, bucket.high_ms) = (ends[0].min(value), ends[1].max(value));
            }
            push(bucket);
            below = Some((rank, value));
        }
        Some((buckets, relative_error.min(Counts::LARGEST_ERROR)))
    }

    /// The values of the known ranks, and of their neighbours that determine a percentile.
    ///
    /// oha states the value at the rank `p n`. A percentile here is between the ranks around
    /// `p (n - 1)`, of which the unknown one gets the stated value too. Exception: the second
    /// slowest, if the bins contradict that.
    fn ranks(&self, count: u64) -> Option<BTreeMap<u64, f64>> {
        let mut known = BTreeMap::new();
        known.insert(0, self.fastest.or(self.bins.first().map(|bin| bin.0))?);
        known.entry(count - 1).or_insert(self.slowest.or(self.bins.last().map(|bin| bin.0))?);
        let stated: Vec<(f64, u64, f64)> =
            self.percentiles.iter().map(|&(percent, value)| (percent, rank(percent, count), value)).collect();
        for &(_, rank, value) in stated.iter().filter(|stated| stated.1 < count) {
            known.entry(rank).or_insert(value);
        }
        for &(percent, rank, value) in stated.iter().filter(|stated| stated.1 < count) {
            let at = percent / 100.0 * (count - 1) as f64;
            for beside in [whole(at.floor()), whole(at.ceil())] {
                let [low, high] = self.range(beside);
                let fits = (low * (1.0 - ROUNDING)..=high * (1.0 + ROUNDING)).contains(&value);
                if rank < count - 1 || fits {
                    known.entry(beside).or_insert(value);
                }
            }
        }
        Some(known)
    }

    fn is_stated(&self, place: u64, count: u64) -> bool {
        let mut ranks = self.percentiles.iter().map(|&(percent, _)| rank(percent, count));
        place == 0 || place + 1 == count || ranks.any(|rank| rank == place)
    }

    fn range(&self, rank: u64) -> [f64; 2] {
        let mut low = self.fastest.or(self.bins.first().map(|bin| bin.0)).unwrap_or(0.0);
        let mut below = 0;
        for &(end, count) in &self.bins {
            below += count;
            if rank < below {
                return [low, end];
            }
            low = end;
        }
        [low, self.slowest.unwrap_or(low).max(low)]
    }

    /// From `from` and before `to`, within the two known values around them.
    fn between(&self, from: u64, to: u64, [low, high]: [f64; 2]) -> Vec<(u64, [f64; 2])> {
        let (mut at, mut below, mut start) = (from, 0, low);
        let mut parts = Vec::new();
        for &(end, count) in &self.bins {
            below += count;
            let end = end.clamp(low, high);
            if at < below.min(to) {
                parts.push((below.min(to) - at, [start, end]));
                at = below.min(to);
            }
            start = end;
        }
        if at < to {
            parts.push((to - at, [low, high]));
        }
        parts
    }
}

/// From 0: `percentile_iter` in oha's `src/result_data.rs`.
fn rank(percent: f64, count: u64) -> u64 {
    whole(percent / 100.0 * count as f64)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "cut off, as oha does it")]
fn whole(value: f64) -> u64 {
    value as u64
}

/// `None` if there is no value.
fn share(part: f64, value: f64) -> f64 {
    if value > 0.0 { part / value } else { 0.0 }
}

/// Ends of bins are sums of fractions.
const ROUNDING: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use statistics::Distribution;

    use super::*;

    /// In seconds, as oha writes them.
    fn stated(sorted: &[f64]) -> Statistics {
        let (min, max) = (sorted[0], sorted[sorted.len() - 1]);
        let step = (max - min) / 10.0;
        let mut bins = vec![0; 11];
        for value in sorted {
            bins[whole(((value - min) / step).ceil()).min(10) as usize] += 1;
        }
        let bins =
            bins.into_iter().enumerate().map(|(bin, count)| (min + step * bin as f64, count)).collect();
        let percent = [10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99];
        let count = sorted.len() as u64;
        let value = |percent| sorted.get(usize::try_from(rank(percent, count)).unwrap());
        let percentiles =
            percent.into_iter().filter_map(|percent| Some((percent, *value(percent)?))).collect();
        Statistics { bins, percentiles, fastest: Some(min), slowest: Some(max), count }
    }

    proptest! {
        #[test]
        fn stated_percentiles_come_out_as_stated(mut values in prop::collection::vec(0.001_f64..5000.0, 100..2000), tail in 1..4) {
            values.iter_mut().for_each(|value| *value = (*value / 5000.0).powi(tail) * 5000.0 + 0.001);
            values.sort_unstable_by(f64::total_cmp);
            let known = stated(&values);
            let (buckets, relative_error) = known.rebuild().unwrap();
            prop_assert_eq!(buckets.iter().map(|bucket| bucket.count).sum::<u64>(), values.len() as u64);
            prop_assert!(buckets.is_sorted_by(|a, b| a.value_ms < b.value_ms));
            let rebuilt = buckets.iter().flat_map(|bucket| (0..bucket.count).map(|_| bucket.value_ms));
            for (rebuilt, value) in rebuilt.zip(&values) {
                let is_near = (rebuilt - value).abs() <= rebuilt * (relative_error + 1e-9);
                prop_assert!(is_near || relative_error == Counts::LARGEST_ERROR, "{rebuilt} for {value}");
            }
            let distribution = Distribution::from_counts(buckets, relative_error).unwrap();
            let count = values.len() as u64;
            for (percent, value) in known.percentiles {
                if rank(percent, count) < count - 1 {
                    let found = distribution.quantile(percent / 100.0);
                    prop_assert!((found - value).abs() <= 1e-9 * value, "p{percent}: {found} for {value}");
                }
            }
        }
    }

    #[test]
    fn equal_values_have_bins_of_one_name() {
        let known = Statistics {
            bins: vec![(2.0, 0)],
            percentiles: vec![(50.0, 2.0), (99.0, 2.0)],
            fastest: Some(2.0),
            slowest: Some(2.0),
            count: 40,
        };
        assert_eq!(known.rebuild(), Some((vec![Bucket::exact(2.0, 40)], 0.0)));
    }

    #[test]
    fn values_that_fall_are_no_percentiles() {
        let known = |percentiles| Statistics {
            bins: vec![(1.0, 1), (5.0, 4), (10.0, 5)],
            percentiles,
            fastest: Some(1.0),
            slowest: Some(10.0),
            count: 10,
        };
        assert!(known(vec![(50.0, 6.0), (75.0, 7.0)]).rebuild().is_some());
        assert_eq!(known(vec![(50.0, 8.0), (75.0, 7.0)]).rebuild(), None);
    }
}
