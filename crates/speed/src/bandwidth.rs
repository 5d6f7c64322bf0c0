//! From requests to what a line carries: a figure a request, five numbers a size, one for the direction.
//!
//! A request's rate is that of its body behind the first piece: what came after the first piece, over the time from the first piece to
//! the last. The round trip before the first piece is latency, which has figures of its own; with it in the rate, a long line would look
//! like a narrow one. Of a download the client sees the pieces, of an upload the server, who says what it saw.
//!
//! Only requests whose pieces came over at least 10 ms have a rate: what is shorter measures clocks and not the line. The line's figure is
//! the 90th percentile (type 7) of all rates: what is slower than most was disturbed by somebody else.

use std::{collections::BTreeMap, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    limited::Limits,
    spread::{Spread, quantile},
};

/// A body that has moved, as its receiver saw it. With several streams, all of them together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// The size that was asked for.
    pub bytes: u64,
    /// Bytes behind the first piece.
    pub behind_first: u64,
    /// From the first piece to the last.
    pub over: Duration,
    /// From the first byte of the request to the last of the response.
    pub took: Duration,
}

/// What a direction carries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bandwidth {
    /// Bits a second: the 90th percentile of all requests that have a rate. Null if none has.
    pub bps_p90: Option<f64>,
    /// One for each size.
    pub sets: Vec<Set>,
    /// What kept it from being more: "network", "receiver window", "send buffer" or "application". Null if nobody saw it: HTTP/3, or a
    /// server that does not tell.
    pub limited_by: Option<String>,
    /// By which share of the time each.
    #[serde(default)]
    pub limits: Option<Limits>,
    /// Why there is no figure.
    #[serde(skip)]
    pub missing: Option<&'static str>,
}

/// The requests of one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Set {
    /// The size of each body.
    pub bytes: u64,
    /// How many there were.
    pub n: usize,
    /// The rate of each whose body came over at least 10 ms, bits a second, in the order of the test.
    pub bps: Vec<f64>,
    /// The least of them. These five are null if no request has a rate.
    pub min: Option<f64>,
    /// A quarter is not above it.
    pub p25: Option<f64>,
    /// The median.
    pub p50: Option<f64>,
    /// Three quarters are not above it.
    pub p75: Option<f64>,
    /// The most.
    pub max: Option<f64>,
}

impl Transfer {
    /// Bits a second. None if it came over less than 10 ms.
    #[expect(clippy::cast_precision_loss, reason = "the largest body is far below 2^53 bytes")]
    pub fn rate(&self) -> Option<f64> {
        (self.over >= LEAST).then(|| self.behind_first as f64 * 8.0 / self.over.as_secs_f64())
    }
}

impl Bandwidth {
    /// Of all requests of a direction, in the order of the test.
    pub fn of(transfers: &[Transfer]) -> Self {
        let mut sizes: BTreeMap<u64, Vec<&Transfer>> = BTreeMap::new();
        for transfer in transfers {
            sizes.entry(transfer.bytes).or_default().push(transfer);
        }
        let rates: Vec<f64> = transfers.iter().filter_map(Transfer::rate).collect();
        let bps_p90 = quantile(&rates, 0.9);
        let missing = match (transfers.len(), bps_p90) {
            (0, _) => Some("nothing was transferred"),
            (_, None) => Some("no body took 10 ms; a plan with larger ones would measure it"),
            _ => None,
        };
        let sets = sizes.into_iter().map(|(bytes, of_size)| Set::of(bytes, &of_size)).collect();
        Self { bps_p90, sets, limited_by: None, limits: None, missing }
    }
}

impl Set {
    fn of(bytes: u64, transfers: &[&Transfer]) -> Self {
        let bps: Vec<f64> = transfers.iter().filter_map(|transfer| transfer.rate()).collect();
        let spread = Spread::of(&bps);
        let at = |of: fn(Spread) -> f64| spread.map(of);
        Self {
            bytes,
            n: transfers.len(),
            min: at(|spread| spread.min),
            p25: at(|spread| spread.p25),
            p50: at(|spread| spread.p50),
            p75: at(|spread| spread.p75),
            max: at(|spread| spread.max),
            bps,
        }
    }
}

/// What came over less time says more about the clocks than about the line.
const LEAST: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests {
    use super::*;

    fn transfer(bytes: u64, over_ms: u64) -> Transfer {
        let over = Duration::from_millis(over_ms);
        Transfer { bytes, behind_first: bytes - 1000, over, took: over + Duration::from_millis(20) }
    }

    #[test]
    fn the_figure_is_the_90th_percentile_of_what_took_long_enough() {
        // 99 000 bytes over 9 ms do not count, however fast; 1 to 6 Mbit/s: 0.9 of the way from the first to the sixth is 5.5.
        let mut all = vec![transfer(100_000, 9)];
        all.extend((1..=6).map(|mbits| Transfer {
            bytes: 1_001_000,
            behind_first: 1_000_000,
            over: Duration::from_secs_f64(8.0 / f64::from(mbits)),
            took: Duration::from_secs(10),
        }));
        let bandwidth = Bandwidth::of(&all);
        let p90 = bandwidth.bps_p90.unwrap();
        assert!((p90 - 5.5e6).abs() < 1.0, "{p90}");
        assert_eq!(
            bandwidth.sets.iter().map(|set| (set.bytes, set.n)).collect::<Vec<_>>(),
            [(100_000, 1), (1_001_000, 6)]
        );
        let large = &bandwidth.sets[1];
        assert!((large.p50.unwrap() - 3.5e6).abs() < 1.0 && large.min.unwrap() < large.max.unwrap());
        assert_eq!((bandwidth.sets[0].bps.len(), bandwidth.sets[0].p50), (0, None), "9 ms say nothing");
    }

    #[test]
    fn what_came_too_quickly_has_no_rate_and_says_so() {
        let at_once = Transfer { over: Duration::ZERO, ..transfer(100_000, 1) };
        let bandwidth = Bandwidth::of(&[at_once]);
        assert_eq!((bandwidth.bps_p90, bandwidth.sets[0].n, bandwidth.sets[0].p50), (None, 1, None));
        assert!(bandwidth.missing.unwrap().contains("10 ms"));
        assert!(Bandwidth::of(&[]).missing.is_some());
    }
}
