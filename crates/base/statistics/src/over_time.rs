//! Percentiles by interval, with the maximum and the count: a p99 alone can rise while nothing else
//! does.

use crate::{
    Distribution, Error,
    distribution::{as_f64, floor},
    inputs::{check_values, time_range},
    limits::MOST_INTERVALS,
    whole_intervals::whole_intervals,
};

/// The interval between `start_s` and the start of the next interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Seconds since the start of the measurement; a whole number of intervals.
    pub start_s: f64,
    /// Samples that started in it; at least 1.
    pub count: usize,
    /// Median, ms.
    pub p50_ms: f64,
    /// 90th percentile, ms.
    pub p90_ms: f64,
    /// 99th percentile, ms.
    pub p99_ms: f64,
    /// Maximum, ms.
    pub max_ms: f64,
}

/// Percentiles over time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Intervals {
    /// Whole intervals with samples, in the order of time.
    pub whole: Vec<Interval>,
    /// Samples in a partial first or last interval: they are in no entry, because a tail looks
    /// shorter with fewer samples.
    pub left_out: usize,
}

/// Cuts samples into intervals of `interval_s` seconds by start time. The samples may be in any
/// order.
///
/// # Errors
/// Unequal lengths, no samples, invalid times or values, or an interval that is not above 0 or that
/// makes more than [`MOST_INTERVALS`].
pub fn over_time(started_s: &[f64], values_ms: &[f64], interval_s: f64) -> Result<Intervals, Error> {
    let (earliest, latest) = time_range(started_s, values_ms.len())?;
    check_values(values_ms)?;
    let span_s = latest - earliest;
    // Written so that a NaN fails it too.
    if !(interval_s > 0.0 && span_s / interval_s < as_f64(MOST_INTERVALS)) {
        return Err(Error::Interval { interval_s, span_s });
    }
    let numbers = whole_intervals(earliest, latest, values_ms.len(), interval_s);
    let mut values: Vec<Vec<f64>> = vec![Vec::new(); floor(numbers.end - numbers.start)];
    let mut left_out = 0;
    for (&started, &value) in started_s.iter().zip(values_ms) {
        let number = (started / interval_s).floor();
        if numbers.contains(&number) {
            values[floor(number - numbers.start)].push(value);
        } else {
            left_out += 1;
        }
    }
    let starts = (0..values.len()).map(|index| (numbers.start + as_f64(index)) * interval_s);
    let full = starts.zip(values).filter(|(_, values)| !values.is_empty());
    let whole = full.map(|(start_s, values)| Distribution::new(values).map(|side| interval(start_s, &side)));
    Ok(Intervals { whole: whole.collect::<Result<_, _>>()?, left_out })
}

/// The shortest round interval (1, 2 or 5 times a power of ten, seconds) that cuts `span_s` seconds
/// into at most 120 pieces with 100 of `samples` on average.
pub fn fitting_interval_s(samples: usize, span_s: f64) -> f64 {
    let most = (as_f64(samples) / 100.0).max((as_f64(samples) / 10.0).min(10.0)).clamp(1.0, 120.0);
    ROUND_S.into_iter().find(|interval| span_s / interval < most).unwrap_or(span_s * 2.0)
}

fn interval(start_s: f64, side: &Distribution) -> Interval {
    Interval {
        start_s,
        count: side.n(),
        p50_ms: side.quantile(0.5),
        p90_ms: side.quantile(0.9),
        p99_ms: side.quantile(0.99),
        max_ms: side.max(),
    }
}

const ROUND_S: [f64; 30] = [
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0,
    500.0, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6,
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_interval_has_its_own_percentiles() {
        let mut started: Vec<f64> = (0..=100).map(|i| f64::from(i) / 101.0).collect();
        let mut values: Vec<f64> = (0..=100).map(f64::from).collect();
        started.push(2.99);
        values.push(7.0);
        let intervals = over_time(&started, &values, 1.0).unwrap();
        let first =
            Interval { start_s: 0.0, count: 101, p50_ms: 50.0, p90_ms: 90.0, p99_ms: 99.0, max_ms: 100.0 };
        let last = Interval { start_s: 2.0, count: 1, p50_ms: 7.0, p90_ms: 7.0, p99_ms: 7.0, max_ms: 7.0 };
        assert_eq!(intervals, Intervals { whole: vec![first, last], left_out: 0 });
    }

    #[test]
    fn partial_intervals_are_left_out_and_counted() {
        let started: Vec<f64> = (0..30).map(|i| 3.35 + f64::from(i) / 10.0).collect();
        let intervals = over_time(&started, &[5.0; 30], 1.0).unwrap();
        let starts: Vec<f64> = intervals.whole.iter().map(|interval| interval.start_s).collect();
        assert_eq!((starts, intervals.left_out), (vec![4.0, 5.0], 7 + 3));
        let late: Vec<f64> = started.iter().map(|time| time + 3600.0).collect();
        assert_eq!(over_time(&late, &[5.0; 30], 0.001).unwrap().whole.len(), 30);
    }

    #[test]
    fn nonsense_is_refused() {
        let of = |times: &[f64], interval| over_time(times, &[1.0, 2.0], interval).unwrap_err();
        assert_eq!(of(&[1.0], 1.0), Error::Unpaired { times: 1, values: 2 });
        assert_eq!(of(&[1.0, -2.0], 1.0), Error::Time { index: 1, value: -2.0 });
        for interval_s in [0.0, -1.0, 1e-6] {
            assert_eq!(of(&[0.0, 2.0], interval_s), Error::Interval { interval_s, span_s: 2.0 });
        }
        assert!(matches!(of(&[1.0, 2.0], f64::NAN), Error::Interval { .. }));
    }

    #[test]
    fn the_interval_fits_the_data() {
        // Plenty of samples: 60 s / 120 = 0.5 s, and the one at exactly 60 s would be in a 121st interval.
        assert_eq!(fitting_interval_s(90_000, 60.0), 1.0);
        assert_eq!(fitting_interval_s(90_000, 59.9), 0.5);
        assert_eq!(fitting_interval_s(1000, 59.9), 10.0);
        // 165 make ten of ten and more, 50 make three (of 10 s there would be six), 10 are one.
        assert_eq!(fitting_interval_s(165, 9.9), 1.0);
        assert_eq!(fitting_interval_s(50, 59.9), 20.0);
        assert_eq!(fitting_interval_s(10, 59.9), 100.0);
        assert_eq!(fitting_interval_s(1, 0.0), 0.001);
        assert_eq!(fitting_interval_s(90_000, 1e12), 2e12);
    }

    proptest! {
        #[test]
        fn no_sample_is_lost(samples in prop::collection::vec((0.0..1e5, 0.0..1e4), 1..500)) {
            let (started, values): (Vec<f64>, Vec<f64>) = samples.into_iter().unzip();
            let (earliest, latest) = time_range(&started, started.len()).unwrap();
            let fitting = fitting_interval_s(started.len(), latest - earliest);
            let intervals = over_time(&started, &values, fitting).unwrap();
            prop_assert!(intervals.whole.len() <= 121);
            let counted = intervals.whole.iter().map(|interval| interval.count).sum::<usize>();
            prop_assert_eq!(counted + intervals.left_out, values.len());
            if let (Some(first), Some(last)) = (intervals.whole.first(), intervals.whole.last()) {
                let within = first.start_s..last.start_s + fitting;
                let inside = started.iter().filter(|time| within.contains(*time)).count();
                prop_assert_eq!(inside, counted);
            }
        }
    }
}
