//! Summaries without samples: percentiles and a count of events, or buckets with counts.
//!
//! The events between two percentiles count at the upper one, so that each stated percentile is
//! reproduced. The events of a bucket count at its middle.

use units::show::{latency, relative};

use crate::{Bucket, Counts, Error, Event, Metric, Place, Sample, Sink, error::counted};

#[derive(Debug, Default)]
pub(super) struct PercentileSummary {
    pub events: u64,
    pub fastest_ms: Option<f64>,
    pub slowest_ms: Option<f64>,
    pub mean_ms: Option<f64>,
    pub percentiles: Vec<(f64, f64)>,
}

/// Only the limits of these events are known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bin {
    pub low_ms: f64,
    pub high_ms: f64,
    pub count: u64,
}

impl PercentileSummary {
    /// `source` begins a sentence for the user. `None` if the values fall where the percentiles
    /// rise, or cannot be.
    pub(super) fn counts(mut self, source: &str) -> Option<(Counts, Vec<String>)> {
        self.percentiles.extend(self.fastest_ms.map(|ms| (0.0, ms)));
        self.percentiles.extend(self.slowest_ms.map(|ms| (100.0, ms)));
        self.percentiles.sort_by(|a, b| a.0.total_cmp(&b.0));
        let is_share = |&(percent, _): &(f64, f64)| (0.0..=100.0).contains(&percent);
        if !self.percentiles.iter().all(is_share) || !(1..=MOST_EVENTS).contains(&self.events) {
            return None;
        }
        let (mut buckets, mut widest, mut total) = (Vec::<Bucket>::new(), 0.0_f64, 0);
        let (mut percent, mut value_ms) = (0.0, 0.0_f64);
        for &(next, ms) in &self.percentiles {
            // Figures of different precision differ in their last digits.
            let ms = if ms < value_ms && ms > value_ms * (1.0 - ROUNDING) { value_ms } else { ms };
            if !(value_ms..=MOST_MS).contains(&ms) {
                return None;
            }
            let upto = match next < 100.0 && self.slowest_ms.is_some() {
                // The slowest event has its stated value, also where a percentile reaches up to it.
                true => events_up_to(next, self.events).min(self.events - 1),
                false => events_up_to(next, self.events),
            };
            let count = upto.saturating_sub(total);
            match buckets.last_mut() {
                _ if count == 0 => {}
                Some(last) if last.value_ms == ms => last.absorb(Bucket::exact(ms, count)),
                Some(_) => {
                    widest = widest.max((ms - value_ms) / ms);
                    buckets.push(Bucket { low_ms: value_ms, ..Bucket::exact(ms, count) });
                }
                // How low the events below the first percentile reach is unknown.
                None if next > 0.0 => {
                    widest = Counts::LARGEST_ERROR;
                    buckets.push(Bucket { low_ms: 0.0, ..Bucket::exact(ms, count) });
                }
                None => buckets.push(Bucket::exact(ms, count)),
            }
            (percent, value_ms, total) = (next, ms, total.max(upto));
        }
        let relative_error = widest.min(Counts::LARGEST_ERROR);
        let mut said = vec![format!(
            "{source} has no samples: only {} of the distribution {} known, and events between two are counted at the upper \
             one, up to {} too high.{}",
            counted(buckets.len() as u64, "point"),
            if buckets.len() == 1 { "is" } else { "are" },
            relative(relative_error),
            mean(&buckets, self.mean_ms),
        )];
        if percent < 100.0 && total < self.events {
            let missing = self.events - total;
            said.push(format!(
                "The percentiles stop at {percent}: {} {} missing.",
                counted(missing, "slower event"),
                if missing == 1 { "is" } else { "are" }
            ));
        }
        Some((Counts { buckets, relative_error, ..Counts::default() }, said))
    }

    /// Nothing if there are no events.
    pub(super) fn hand_over(
        self,
        source: &str,
        place: Place,
        sink: &mut dyn Sink,
        warnings: &mut Vec<String>,
    ) -> Result<(), Error> {
        sink.metric(Metric::Latency);
        if self.events == 0 {
            return Ok(());
        }
        let (found, expected) = ("percentiles that fall or cannot be".to_owned(), "values that rise");
        let (counts, said) = self.counts(source).ok_or(Error::Number { place, found, expected })?;
        warnings.extend(said);
        sink.counts(&counts)
    }
}

/// A percentile is between the ranks around `p (n - 1)`: up to and with the upper one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to the number of events")]
fn events_up_to(percent: f64, events: u64) -> u64 {
    // 99.9 / 100 is a little more than 0.999.
    let rank = (percent * events.saturating_sub(1) as f64 / 100.0 * (1.0 - f64::EPSILON * 4.0)).ceil();
    (rank as u64 + 1).min(events)
}

/// With their maximum relative error. `None` if the bins do not rise or hold more events than
/// possible.
pub(super) fn of_bins(bins: &[Bin]) -> Option<Counts> {
    let (mut buckets, mut relative_error, mut total) = (Vec::<Bucket>::new(), 0.0_f64, 0_u64);
    let mut end = 0.0;
    for &Bin { low_ms, high_ms, count } in bins {
        if !(end <= low_ms && low_ms <= high_ms && high_ms <= MOST_MS) {
            return None;
        }
        end = high_ms;
        total = total.checked_add(count).filter(|&total| total <= MOST_EVENTS)?;
        if count == 0 {
            continue;
        }
        let bucket = Bucket::between(low_ms, high_ms, count);
        if bucket.value_ms > 0.0 {
            relative_error = relative_error.max((high_ms - low_ms) / 2.0 / bucket.value_ms);
        }
        match buckets.last_mut() {
            Some(last) if last.value_ms == bucket.value_ms => last.absorb(bucket),
            _ => buckets.push(bucket),
        }
    }
    Some(Counts { buckets, relative_error: relative_error.min(Counts::LARGEST_ERROR), ..Counts::default() })
}

pub(super) fn mean(buckets: &[Bucket], stated_ms: Option<f64>) -> String {
    let Some(stated) = stated_ms else { return String::new() };
    let count: u64 = buckets.iter().map(|bucket| bucket.count).sum();
    let sum: f64 = buckets.iter().map(|bucket| bucket.value_ms * bucket.count as f64).sum();
    if count == 0 {
        return String::new();
    }
    format!(
        " The mean comes out as {} ms, where the file states {} ms.",
        latency(sum / count as f64),
        latency(stated)
    )
}

/// Only the reasons and their counts are known.
pub(super) fn failures<'r>(
    reasons: impl IntoIterator<Item = (&'r str, u64)>,
    sink: &mut dyn Sink,
    warnings: &mut Vec<String>,
) -> Result<(), Error> {
    let mut number = 0;
    for (reason, count) in reasons {
        let sample = Sample { error: Some(reason.to_owned()), ..Sample::default() };
        let taken = count.min(MOST_FAILURES.saturating_sub(number));
        for _ in 0..taken {
            number += 1;
            sink.event(&Event { number, sample: &sample, exact: &[] })?;
        }
        if taken < count {
            warnings.push(format!("More than {MOST_FAILURES} failures; the rest is left out."));
            break;
        }
    }
    Ok(())
}

/// Removes `without` events, the same share from each bucket: for files that include failed events
/// in their times. Cumulative counts are rounded, so that percentiles are unchanged.
pub(super) fn thinned(mut buckets: Vec<Bucket>, without: u64) -> Vec<Bucket> {
    let all: u64 = buckets.iter().map(|bucket| bucket.count).fold(0, u64::saturating_add);
    let kept = u128::from(all.saturating_sub(without));
    let (mut upto, mut given) = (0_u128, 0);
    for bucket in &mut buckets {
        upto += u128::from(bucket.count);
        let rounded = (upto * kept + u128::from(all) / 2) / u128::from(all.max(1));
        let rounded = u64::try_from(rounded).unwrap_or(u64::MAX);
        (bucket.count, given) = (rounded - given, rounded);
    }
    buckets.retain(|bucket| bucket.count > 0);
    buckets
}

pub(super) fn latency_only(wanted: Option<Metric>, source: &str, place: Place) -> Result<(), Error> {
    match wanted {
        None | Some(Metric::Latency) => Ok(()),
        Some(metric) => {
            let found = format!("{source}, which has only latency");
            Err(Error::Metric { place, found, expected: format!("samples with {metric}") })
        }
    }
}

const ROUNDING: f64 = 0.01;

/// Counts up to here are exact in f64 too.
const MOST_EVENTS: u64 = 1 << 53;

const MOST_MS: f64 = crate::unit::MOST_MS;

/// For failures that consist only of their number.
const MOST_FAILURES: u64 = 10_000_000;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use statistics::Distribution;

    use super::*;

    proptest! {
        #[test]
        fn stated_percentiles_come_out_as_stated(events in 1_u64..5000, steps in prop::collection::vec(0.0_f64..50.0, 7)) {
            let mut value = 1.0;
            let mut stated: Vec<(f64, f64)> = Vec::new();
            for (percent, step) in [50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99].into_iter().zip(steps) {
                value += step;
                stated.push((percent, value));
            }
            let points = PercentileSummary {
                events,
                fastest_ms: Some(1.0),
                slowest_ms: Some(value + 1.0),
                percentiles: stated.clone(),
                mean_ms: None,
            };
            let (counts, _) = points.counts("A file").unwrap();
            prop_assert_eq!(counts.events(), events);
            let distribution = Distribution::from_counts(counts.buckets, counts.relative_error).unwrap();
            for pair in stated.windows(2) {
                let (percent, value) = pair[1];
                let upto = events_up_to(percent, events);
                if upto < events && events_up_to(pair[0].0, events) + 2 <= upto {
                    let found = distribution.quantile(percent / 100.0);
                    prop_assert!((found - value).abs() <= 1e-9 * value, "p{}: {} for {}", percent, found, value);
                }
            }
        }
    }

    #[test]
    fn a_distribution_without_its_ends() {
        let percentiles = vec![(50.0, 10.0), (90.0, 20.0)];
        let (counts, said) = PercentileSummary { events: 11, percentiles, ..PercentileSummary::default() }
            .counts("A file")
            .unwrap();
        let bucket = |low_ms, value_ms, count| Bucket { low_ms, ..Bucket::exact(value_ms, count) };
        assert_eq!(counts.buckets, [bucket(0.0, 10.0, 6), bucket(10.0, 20.0, 4)]);
        assert!(said[1].starts_with("The percentiles stop at 90: 1 slower event is missing"), "{said:?}");
        assert_eq!(counts.relative_error, Counts::LARGEST_ERROR);
        let falling = vec![(50.0, 10.0), (90.0, 9.0)];
        assert!(
            PercentileSummary { events: 11, percentiles: falling, ..PercentileSummary::default() }
                .counts("A file")
                .is_none()
        );
    }

    #[test]
    fn what_failed_is_taken_from_all_buckets() {
        let of = |counts: &[u64], without| -> Vec<u64> {
            let buckets = (1..).zip(counts).map(|(ms, &count)| Bucket::exact(f64::from(ms), count)).collect();
            thinned(buckets, without).iter().map(|bucket| bucket.count).collect()
        };
        assert_eq!(of(&[10, 20, 70], 50), [5, 10, 35]);
        // 1.5, 3 and 4.5 of 9, rounded up from the half.
        assert_eq!(of(&[3, 3, 3], 4), [2, 1, 2]);
        assert_eq!((of(&[1, 2], 0), of(&[1, 2], 3), of(&[1, 2], 9)), (vec![1, 2], vec![], vec![]));
    }

    #[test]
    fn bins_have_middles() {
        let bin = |low_ms, high_ms, count| Bin { low_ms, high_ms, count };
        let counts = of_bins(&[bin(10.0, 30.0, 2), bin(30.0, 30.0, 0), bin(30.0, 34.0, 1)]).unwrap();
        assert_eq!(counts.buckets, [Bucket::between(10.0, 30.0, 2), Bucket::between(30.0, 34.0, 1)]);
        assert_eq!(counts.relative_error, 0.5);
        assert!(of_bins(&[bin(10.0, 30.0, 2), bin(20.0, 40.0, 1)]).is_none());
        assert!(of_bins(&[bin(f64::NAN, 30.0, 2)]).is_none());
    }
}
