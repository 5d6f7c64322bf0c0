//! Computes the bandwidth of a line: a rate per request, statistics per size, and a figure per
//! direction.
//!
//! The rate of a request counts the bytes after the first piece; below 100 ms that is inexact, and
//! the whole request counts. The figure is the 90th percentile (type 7) of the rates of sizes whose
//! fastest body took at least [`ROUNDS`] round trips.

use std::{collections::BTreeMap, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    bottleneck::Limits,
    five_numbers::{Spread, quantile},
    size_ramp::ROUNDS,
};

/// A transferred body, measured by its receiver. Several streams count together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// The requested size.
    pub bytes: u64,
    /// Bytes after the first piece.
    pub behind_first: u64,
    /// Time from the first piece to the last.
    pub over: Duration,
    /// Time from the first byte of the request to the last byte of the response.
    pub took: Duration,
}

/// The bandwidth of a direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bandwidth {
    /// Bits per second: the 90th percentile of the requests of all sizes whose fastest request took at
    /// least ten round trips, or of all requests if no request did. Null if no request has a rate.
    pub bps_p90: Option<f64>,
    /// Statistics of each size.
    pub sets: Vec<Set>,
    /// The main limit: "network", "receiver window", "send buffer", "application" or "device" (the
    /// receiver's). Null if not measured: with HTTP/3, or without kernel statistics on the server.
    pub limited_by: Option<String>,
    /// The share of time for each limit.
    #[serde(default)]
    pub limits: Option<Limits>,
    /// The reason for a missing figure.
    #[serde(skip)]
    pub missing: Option<&'static str>,
}

/// Statistics of the requests of one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Set {
    /// The size of each body.
    pub bytes: u64,
    /// Number of requests.
    pub n: usize,
    /// The rate of each request of at least 10 ms, bits per second, in the order of the test.
    pub bps: Vec<f64>,
    /// Minimum rate. This and the next four values are null if no request has a rate.
    pub min: Option<f64>,
    /// First quartile.
    pub p25: Option<f64>,
    /// The median.
    pub p50: Option<f64>,
    /// Third quartile.
    pub p75: Option<f64>,
    /// Maximum.
    pub max: Option<f64>,
}

impl Transfer {
    /// Bits per second; `None` for less than 10 ms.
    #[expect(clippy::cast_precision_loss, reason = "the largest body is far below 2^53 bytes")]
    pub fn rate(&self) -> Option<f64> {
        let (bytes, time) =
            if self.over >= STEADY { (self.behind_first, self.over) } else { (self.bytes, self.took) };
        (self.took >= LEAST).then(|| bytes as f64 * 8.0 / time.as_secs_f64())
    }
}

impl Bandwidth {
    /// Statistics of all requests of a direction, in the order of the test; `round_trip` is that of
    /// the line, if known.
    pub fn of(transfers: &[Transfer], round_trip: Option<Duration>) -> Self {
        let mut sizes: BTreeMap<u64, Vec<&Transfer>> = BTreeMap::new();
        for transfer in transfers {
            sizes.entry(transfer.bytes).or_default().push(transfer);
        }
        let set = |(bytes, of_size): (u64, Vec<&Transfer>)| {
            let rates = of_size.iter().filter_map(|transfer| transfer.rate()).collect();
            Set::of(bytes, of_size.len(), rates)
        };
        Self::of_sets(sizes.into_iter().map(set).collect(), round_trip)
    }

    pub(crate) fn of_sets(sets: Vec<Set>, round_trip: Option<Duration>) -> Self {
        let opened = round_trip.unwrap_or_default().saturating_mul(ROUNDS).as_secs_f64();
        let rates = |least: f64| -> Vec<f64> {
            let counts = sets.iter().filter(|set| set.fastest().is_some_and(|took| took >= least));
            counts.flat_map(|set| set.bps.iter().copied()).collect()
        };
        let rates = Some(rates(opened)).filter(|rates| !rates.is_empty()).unwrap_or_else(|| rates(0.0));
        let bps_p90 = quantile(&rates, 0.9);
        let missing = match bps_p90 {
            _ if sets.is_empty() => Some("nothing was transferred"),
            None => Some("no request took 10 ms; a plan with larger ones would measure it"),
            Some(_) => None,
        };
        Self { bps_p90, sets, limited_by: None, limits: None, missing }
    }
}

impl Set {
    pub(crate) fn of(bytes: u64, n: usize, bps: Vec<f64>) -> Self {
        let spread = Spread::of(&bps);
        let at = |of: fn(Spread) -> f64| spread.map(of);
        Self {
            bytes,
            n,
            min: at(|spread| spread.min),
            p25: at(|spread| spread.p25),
            p50: at(|spread| spread.p50),
            p75: at(|spread| spread.p75),
            max: at(|spread| spread.max),
            bps,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "the largest body is far below 2^53 bytes")]
    fn fastest(&self) -> Option<f64> {
        self.max.map(|bps| self.bytes as f64 * 8.0 / bps)
    }
}

/// A shorter time measures the clocks rather than the line.
const LEAST: Duration = Duration::from_millis(10);
/// A delay of 2 ms is 2 % of this time.
const STEADY: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    /// A transfer with a first piece of 1000 bytes after a round trip of 20 ms.
    fn transfer(bytes: u64, over: Duration) -> Transfer {
        Transfer { bytes, behind_first: bytes - 1000, over, took: over + Duration::from_millis(20) }
    }

    #[test]
    fn the_figure_is_the_90th_percentile_of_all_rates() {
        // 1 to 6 Mbit/s: 0.9 of the distance from the first to the sixth is 5.5.
        let over = |mbits: u32| Duration::from_secs_f64(8.0 / f64::from(mbits));
        let all: Vec<_> = (1..=6).map(|mbits| transfer(1_001_000, over(mbits))).collect();
        let bandwidth = Bandwidth::of(&all, None);
        assert!((bandwidth.bps_p90.unwrap() - 5.5e6).abs() < 1.0, "{:?}", bandwidth.bps_p90);
        let set = &bandwidth.sets[0];
        assert_eq!((set.bytes, set.n, set.bps.len()), (1_001_000, 6, 6));
        assert!((set.p50.unwrap() - 3.5e6).abs() < 1.0 && set.min.unwrap() < set.max.unwrap());
    }

    #[test]
    fn a_short_body_has_the_rate_of_the_whole_request() {
        let ms = Duration::from_millis;
        // 100 000 bytes in 80 ms and a round trip of 20 ms: 8 Mbit/s.
        assert_eq!(transfer(100_000, ms(80)).rate(), Some(8e6));
        // 1 000 000 bytes after the first piece in 800 ms.
        assert_eq!(transfer(1_001_000, ms(800)).rate(), Some(10e6));
        let at_once = Transfer { took: ms(9), ..transfer(100_000, ms(5)) };
        assert_eq!(at_once.rate(), None);
        let bandwidth = Bandwidth::of(&[at_once], None);
        assert_eq!((bandwidth.bps_p90, bandwidth.sets[0].n, bandwidth.sets[0].p50), (None, 1, None));
        assert!(bandwidth.missing.unwrap().contains("10 ms"));
        assert!(Bandwidth::of(&[], None).missing.is_some());
    }

    #[test]
    fn on_a_long_line_sizes_that_the_window_held_back_do_not_count() {
        let ms = Duration::from_millis;
        // Nine small bodies at 2 Mbit/s, and one of 10 MB at 10 Mbit/s, which takes 8 s.
        let mut all = vec![transfer(500_000, ms(2000)); 9];
        all.push(transfer(10_000_000, ms(8000)));
        let of = |round_trip| Bandwidth::of(&all, round_trip).bps_p90.unwrap().round();
        let [small, large] = [all[0], all[9]].map(|transfer| transfer.rate().unwrap());
        assert_eq!(of(Some(ms(300))), large.round());
        // A tenth of the distance from the ninth to the tenth of ten values. 2 s are ten round
        // trips of 200 ms, but 8 s are less than ten of 900 ms.
        let all_ten = (small + 0.1 * (large - small)).round();
        assert_eq!([None, Some(ms(200)), Some(ms(900))].map(of), [all_ten; 3]);
    }
}
