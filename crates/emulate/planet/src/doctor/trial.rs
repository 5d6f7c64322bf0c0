//! Derives the accuracy of a machine from the errors of round trips on a small planet.

use schemars::JsonSchema;
use serde::Serialize;

/// Results of pings between two hosts of a small planet with a known distance.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Trial {
    /// The configured round trip of the planet, ms.
    pub round_trip_ms: f64,
    /// Errors without other traffic.
    pub idle: Errors,
    /// Errors during a bulk flow between two other hosts.
    pub busy: Errors,
    /// The rate of that flow, Mbit/s. Absent if nothing was transferred.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bulk_mbps: Option<f64>,
    /// The conclusion, as a sentence.
    pub good_for: String,
}

/// Errors of round trips.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Errors {
    /// Pings sent.
    pub sent: u64,
    /// Pings with a reply.
    pub answered: u64,
    /// Error of the median, us.
    pub median_us: f64,
    /// Error of the 99th percentile, us.
    pub p99_us: f64,
    /// Medians of round trips above this are accurate to 1 %, ms.
    pub medians_above_ms: f64,
    /// 99th percentiles of round trips above this are accurate to 1 %, ms.
    pub p99_above_ms: f64,
}

impl Errors {
    /// The errors of pings whose true round trip is `true_ms`.
    pub fn of(true_ms: f64, sent: u64, answered: u64, median_ms: f64, p99_ms: f64) -> Self {
        let error_us = |measured_ms: f64| (measured_ms - true_ms).abs() * 1000.0;
        let (median_us, p99_us) = (error_us(median_ms), error_us(p99_ms));
        Self {
            sent,
            answered,
            median_us,
            p99_us,
            medians_above_ms: good_above(median_us),
            p99_above_ms: good_above(p99_us),
        }
    }
}

impl Trial {
    /// A trial with its conclusion.
    pub fn of(round_trip_ms: f64, idle: Errors, busy: Errors, bulk_mbps: Option<f64>) -> Self {
        let good_for = format!(
            "medians of round trips above {} and 99th percentiles above {} are right to 1 %, with a bulk flow above {} \
             and {}; {}",
            shown(idle.medians_above_ms),
            shown(idle.p99_above_ms),
            shown(busy.medians_above_ms),
            shown(busy.p99_above_ms),
            if idle.median_us < ONE_PERCENT_OF_A_MILLISECOND_US {
                "differences of microseconds need a look at the fidelity of their run"
            } else {
                "not for differences of microseconds"
            }
        );
        Self { round_trip_ms, idle, busy, bulk_mbps, good_for }
    }
}

/// The smallest of 1, 2, 5, 10, 20 ... ms of which the error is at most 1 %.
fn good_above(error_us: f64) -> f64 {
    let least_ms = error_us * HUNDRED / 1000.0;
    let steps = (-2..=6).flat_map(|power| [1.0, 2.0, 5.0].map(|step| step * 10.0_f64.powi(power)));
    steps.into_iter().find(|step| *step * (1.0 + 1e-9) >= least_ms).unwrap_or(f64::INFINITY)
}

fn shown(ms: f64) -> String {
    if ms < 1000.0 { format!("{ms} ms") } else { format!("{} s", ms / 1000.0) }
}

const HUNDRED: f64 = 100.0;

/// Below this error, figures of a millisecond are accurate to 1 %.
const ONE_PERCENT_OF_A_MILLISECOND_US: f64 = 10.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_is_a_hundred_times_the_error() {
        // 20.04 ms instead of 20: 40 us are 1 % of 4 ms; 0.3 ms are 1 % of 30 ms.
        let idle = Errors::of(20.0, 200, 200, 20.04, 20.3);
        assert_eq!((idle.medians_above_ms, idle.p99_above_ms), (5.0, 50.0));
        assert!((idle.median_us - 40.0).abs() < 1e-6, "{idle:?}");
        // 15 ms are 1 % of 1.5 s.
        let busy = Errors::of(20.0, 200, 198, 20.1, 35.0);
        let trial = Trial::of(20.0, idle, busy, Some(940.0));
        assert_eq!(
            trial.good_for,
            "medians of round trips above 5 ms and 99th percentiles above 50 ms are right to 1 %, with a bulk flow \
             above 10 ms and 2 s; not for differences of microseconds"
        );
    }

    #[test]
    fn an_error_is_never_more_than_what_it_is_said_to_be_good_for() {
        for error_us in [0.0, 0.9, 1.0, 7.3, 50.0, 51.0, 1234.0, 99_999.0] {
            let above = good_above(error_us);
            assert!(error_us / 1000.0 <= above / 100.0, "{error_us} us: {above} ms");
        }
        assert_eq!(good_above(f64::MAX), f64::INFINITY);
    }
}
