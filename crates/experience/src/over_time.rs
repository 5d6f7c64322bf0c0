//! Percentiles by interval, with the maximum and the count beside them: a p99 alone can rise while nothing else does.

use crate::{
    Distribution, Error,
    distribution::{as_f64, floor},
};

/// What happened between `start_s` and the start of the next interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Seconds since the measurement's start; a whole number of intervals.
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

/// Cuts samples into intervals of `interval_s` seconds by the time at which they started, in any order. An interval
/// without samples is left out.
///
/// # Errors
/// Unequal lengths; a time that is NaN, infinite or negative; an interval that is not above 0 or that makes more than
/// [`MOST_INTERVALS`]; a value that no [`Distribution`] takes.
pub fn over_time(started_s: &[f64], values_ms: &[f64], interval_s: f64) -> Result<Vec<Interval>, Error> {
    if started_s.len() != values_ms.len() {
        return Err(Error::Unpaired { times: started_s.len(), values: values_ms.len() });
    }
    let span_s = span(started_s)?;
    // Written so that a NaN fails it too.
    if !(interval_s > 0.0 && span_s / interval_s < as_f64(MOST_INTERVALS)) {
        return Err(Error::Interval { interval_s, span_s });
    }
    let mut values: Vec<Vec<f64>> = vec![Vec::new(); floor(span_s / interval_s) + 1];
    for (&started, &value) in started_s.iter().zip(values_ms) {
        values[floor(started / interval_s)].push(value);
    }
    let starts = (0..values.len()).map(|index| as_f64(index) * interval_s);
    let full = starts.zip(values).filter(|(_, values)| !values.is_empty());
    full.map(|(start_s, values)| Distribution::new(values).map(|side| interval(start_s, &side))).collect()
}

/// The shortest round interval (1, 2 or 5 times a power of ten, seconds) that cuts `span_s` seconds into at most 120
/// pieces with 100 of `samples` in the average one, so that its 99th percentile is not yet its maximum.
pub fn fitting_interval_s(samples: usize, span_s: f64) -> f64 {
    let most = (as_f64(samples) / 100.0).clamp(1.0, 120.0);
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

/// The latest time.
fn span(started_s: &[f64]) -> Result<f64, Error> {
    let mut latest = 0.0_f64;
    for (index, &value) in started_s.iter().enumerate() {
        if !(value >= 0.0 && value.is_finite()) {
            return Err(Error::Time { index, value });
        }
        latest = latest.max(value);
    }
    Ok(latest)
}

/// The most intervals that [`over_time`] makes: ten for every column of the widest screen, and a bound on memory.
pub const MOST_INTERVALS: usize = 100_000;

/// From a millisecond to about two months; longer spans are cut into two.
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
        // Second 0: 0, 1, ..., 100; second 1: nothing; second 2: one sample.
        let mut started: Vec<f64> = (0..=100).map(|i| f64::from(i) / 101.0).collect();
        let mut values: Vec<f64> = (0..=100).map(f64::from).collect();
        started.push(2.5);
        values.push(7.0);
        let intervals = over_time(&started, &values, 1.0).unwrap();
        let first =
            Interval { start_s: 0.0, count: 101, p50_ms: 50.0, p90_ms: 90.0, p99_ms: 99.0, max_ms: 100.0 };
        let last = Interval { start_s: 2.0, count: 1, p50_ms: 7.0, p90_ms: 7.0, p99_ms: 7.0, max_ms: 7.0 };
        assert_eq!(intervals, [first, last]);
    }

    #[test]
    fn nonsense_is_refused() {
        let of = |times: &[f64], interval| over_time(times, &[1.0, 2.0], interval).unwrap_err();
        assert_eq!(of(&[1.0], 1.0), Error::Unpaired { times: 1, values: 2 });
        assert_eq!(of(&[1.0, -2.0], 1.0), Error::Time { index: 1, value: -2.0 });
        for interval_s in [0.0, -1.0, 1e-6] {
            assert_eq!(of(&[1.0, 2.0], interval_s), Error::Interval { interval_s, span_s: 2.0 });
        }
        assert!(matches!(of(&[1.0, 2.0], f64::NAN), Error::Interval { .. }));
    }

    #[test]
    fn the_interval_fits_the_data() {
        // Plenty of samples: 60 s / 120 = 0.5 s, and the one at exactly 60 s would be in a 121st interval.
        assert_eq!(fitting_interval_s(90_000, 60.0), 1.0);
        assert_eq!(fitting_interval_s(90_000, 59.9), 0.5);
        // 1000 samples make ten intervals of 100.
        assert_eq!(fitting_interval_s(1000, 59.9), 10.0);
        // Too few for two.
        assert_eq!(fitting_interval_s(50, 59.9), 100.0);
        assert_eq!(fitting_interval_s(1, 0.0), 0.001);
        assert_eq!(fitting_interval_s(90_000, 1e12), 2e12);
    }

    proptest! {
        #[test]
        fn no_sample_is_lost(samples in prop::collection::vec((0.0..1e5, 0.0..1e4), 1..500)) {
            let (started, values): (Vec<f64>, Vec<f64>) = samples.into_iter().unzip();
            let fitting = fitting_interval_s(started.len(), span(&started).unwrap());
            let intervals = over_time(&started, &values, fitting).unwrap();
            prop_assert!(intervals.len() <= 120);
            prop_assert_eq!(intervals.iter().map(|interval| interval.count).sum::<usize>(), values.len());
            let slowest = intervals.iter().map(|interval| interval.max_ms).fold(0.0, f64::max);
            prop_assert_eq!(slowest, values.iter().copied().fold(0.0, f64::max));
        }
    }
}
