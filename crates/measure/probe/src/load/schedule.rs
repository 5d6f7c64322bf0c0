//! Start times of requests: a pure sequence.

use std::time::Duration;

use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use units::Frequency;

use crate::random;

/// The spacing of requests over time; in a file "constant" or "poisson".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arrival {
    /// At equal intervals, the first immediately.
    #[default]
    Constant,
    /// Like many independent users: intervals are exponential (a Poisson process).
    Poisson,
}

impl Arrival {
    /// Both variants, in the order of the help text.
    pub const ALL: [Self; 2] = [Self::Constant, Self::Poisson];

    /// Its name in files, on the command line and in a recording's conditions.
    pub fn name(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Poisson => "poisson",
        }
    }
}

/// The start times of requests, relative to the start of the run; endless.
pub struct Schedule {
    nanos_per_request: f64,
    arrival: Arrival,
    rng: Xoshiro256PlusPlus,
    /// For the constant schedule: times are multiplied, not added up, so that no error accumulates.
    made: u64,
    nanos: f64,
}

impl Schedule {
    /// A schedule of `rate`; `rng` is used only for random arrivals.
    pub fn new(rate: Frequency, arrival: Arrival, rng: Xoshiro256PlusPlus) -> Self {
        Self { nanos_per_request: 1e9 / rate.per_second(), arrival, rng, made: 0, nanos: 0.0 }
    }
}

impl Iterator for Schedule {
    type Item = Duration;

    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "exact up to 2^53 ns, 104 days, and never negative"
    )]
    fn next(&mut self) -> Option<Duration> {
        let nanos = match self.arrival {
            Arrival::Constant => self.made as f64 * self.nanos_per_request,
            Arrival::Poisson => {
                self.nanos += self.nanos_per_request * random::exponential(&mut self.rng);
                self.nanos
            }
        };
        self.made += 1;
        Some(Duration::from_nanos(nanos.round() as u64))
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    fn times(rate: &str, arrival: Arrival, n: usize) -> Vec<Duration> {
        let rng = Xoshiro256PlusPlus::seed_from_u64(3);
        Schedule::new(rate.parse().unwrap(), arrival, rng).take(n).collect()
    }

    #[test]
    fn constant_is_exact_and_does_not_drift() {
        let at_3 = times("3/s", Arrival::Constant, 3_000_001);
        assert_eq!(at_3[0], Duration::ZERO);
        assert_eq!(at_3[1], Duration::from_nanos(333_333_333));
        assert_eq!(at_3[2], Duration::from_nanos(666_666_667));
        assert_eq!(at_3[3_000_000], Duration::from_secs(1_000_000));
    }

    #[test]
    fn poisson_has_exponential_intervals() {
        let n = 100_000;
        let times = times("100/s", Arrival::Poisson, n);
        let intervals: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64()).collect();
        let count = intervals.len() as f64;
        let mean = intervals.iter().sum::<f64>() / count;
        let variance = intervals.iter().map(|interval| (interval - mean).powi(2)).sum::<f64>() / count;
        // Mean 1/rate, with standard error 1/rate/sqrt(n).
        assert!((mean * 100.0 - 1.0).abs() < 4.0 / count.sqrt(), "{mean}");
        // Variance 1/rate^2; an exponential's fourth central moment is 9/rate^4, so its standard
        // error is sqrt(8/n)/rate^2.
        assert!((variance * 1e4 - 1.0).abs() < 4.0 * (8.0 / count).sqrt(), "{variance}");
        // Memoryless: the share of intervals longer than the mean is 1/e, and so is the share of
        // these that are longer than twice the mean.
        let longer = |than: f64| intervals.iter().filter(|&&interval| interval > than).count() as f64;
        let one_over_e = (-1f64).exp();
        assert!((longer(0.01) / count - one_over_e).abs() < 4.0 * 0.5 / count.sqrt());
        assert!((longer(0.02) / longer(0.01) - one_over_e).abs() < 4.0 * 0.5 / longer(0.01).sqrt());
    }

    #[test]
    fn poisson_counts_have_the_variance_of_their_mean() {
        // Requests in each of 1000 windows of 1 s at 100/s: mean and variance are both 100.
        let times = times("100/s", Arrival::Poisson, 120_000);
        let mut windows = [0f64; 1000];
        for time in times {
            if let Some(window) = windows.get_mut(usize::try_from(time.as_secs()).unwrap()) {
                *window += 1.0;
            }
        }
        let mean = windows.iter().sum::<f64>() / 1000.0;
        let variance = windows.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 999.0;
        assert!((mean - 100.0).abs() < 4.0 * 10.0 / 1000f64.sqrt(), "{mean}");
        // Standard error of a variance is about its size times sqrt(2/n).
        assert!((variance - 100.0).abs() < 4.0 * 100.0 * (2.0 / 1000f64).sqrt(), "{variance}");
    }

    #[test]
    fn a_file_has_the_words_of_the_command_line() {
        for arrival in Arrival::ALL {
            let quoted = format!("\"{}\"", arrival.name());
            assert_eq!(serde_json::to_string(&arrival).unwrap(), quoted);
            assert_eq!(serde_json::from_str::<Arrival>(&quoted).unwrap(), arrival);
        }
    }

    #[test]
    fn a_seed_makes_one_schedule() {
        assert_eq!(times("50/s", Arrival::Poisson, 100), times("50/s", Arrival::Poisson, 100));
    }
}
