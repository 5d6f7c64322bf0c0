//! From requests to what a line carries: a figure a request, five numbers a size, one for the direction.
//!
//! A request's rate is that of its body behind the first piece: what came after the first piece, over the time from the first piece to
//! the last. The round trip before the first piece is latency, which has figures of its own; with it in the rate, a long line would look
//! like a narrow one. Of a download the client sees the pieces, of an upload the server, who says what it saw.
//!
//! Pieces that come over less than 100 ms tell the clocks' and the machines' hesitations from the line's rate no better than to some
//! percent, either way. So the rate of such a request is that of all of it, the round trip included: what somebody gets who asks for so
//! little, and never more than the line carries. What took less than 10 ms has no rate.
//!
//! The line's figure is the 90th percentile (type 7) of the rates of those sizes whose fastest body took ten round trips or more, by which
//! time its sender's window has opened ([`ROUNDS`]): smaller ones tell of the window, and on a long line there are more of them than large
//! ones. Where no body took so long, all rates count. What is slower than most was disturbed by somebody else.

use std::{collections::BTreeMap, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    limited::Limits,
    spread::{Spread, quantile},
    stop::ROUNDS,
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
    /// Bits a second: the 90th percentile of the requests of all sizes whose fastest took ten round trips or more; of all requests if none
    /// took so long. Null if none has a rate.
    pub bps_p90: Option<f64>,
    /// One for each size.
    pub sets: Vec<Set>,
    /// What kept it from being more: "network", "receiver window", "send buffer", "application" or "device", the one that received it. Null
    /// if it was not measured: HTTP/3, or a server whose kernel does not tell.
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
    /// The rate of each that took at least 10 ms, bits a second, in the order of the test.
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
    /// Bits a second. None if it took less than 10 ms.
    #[expect(clippy::cast_precision_loss, reason = "the largest body is far below 2^53 bytes")]
    pub fn rate(&self) -> Option<f64> {
        let (bytes, time) =
            if self.over >= STEADY { (self.behind_first, self.over) } else { (self.bytes, self.took) };
        (self.took >= LEAST).then(|| bytes as f64 * 8.0 / time.as_secs_f64())
    }
}

impl Bandwidth {
    /// Of all requests of a direction, in the order of the test, on a line with this round trip, if it is known.
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

    /// Of the requests of all sizes.
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
    /// Of so many requests of a size, and the rates of those that have one.
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

    /// How long the fastest body took, s.
    #[expect(clippy::cast_precision_loss, reason = "the largest body is far below 2^53 bytes")]
    fn fastest(&self) -> Option<f64> {
        self.max.map(|bps| self.bytes as f64 * 8.0 / bps)
    }
}

/// What took less time says more about the clocks than about the line.
const LEAST: Duration = Duration::from_millis(10);
/// Over so much time a hesitation of 2 ms is 2 %.
const STEADY: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    /// One of which a kilobyte came first, after a round trip of 20 ms.
    fn transfer(bytes: u64, over: Duration) -> Transfer {
        Transfer { bytes, behind_first: bytes - 1000, over, took: over + Duration::from_millis(20) }
    }

    #[test]
    fn the_figure_is_the_90th_percentile_of_all_rates() {
        // 1 to 6 Mbit/s: 0.9 of the way from the first to the sixth is 5.5.
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
        // 100 000 bytes in 80 ms and a round trip of 20: 8 Mbit/s, whatever the line carries.
        assert_eq!(transfer(100_000, ms(80)).rate(), Some(8e6));
        // 1 000 000 behind the first piece over 800 ms.
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
        // Nine small ones at 2 Mbit/s, and one of 10 MB at 10 Mbit/s, which takes 8 s.
        let mut all = vec![transfer(500_000, ms(2000)); 9];
        all.push(transfer(10_000_000, ms(8000)));
        let of = |round_trip| Bandwidth::of(&all, round_trip).bps_p90.unwrap().round();
        let [small, large] = [all[0], all[9]].map(|transfer| transfer.rate().unwrap());
        assert_eq!(of(Some(ms(300))), large.round());
        // Of ten the 90th percentile is a tenth of the way from the ninth to the tenth. In 2 s are ten round trips of 200 ms, and in 8 s
        // not ten of 900.
        let all_ten = (small + 0.1 * (large - small)).round();
        assert_eq!([None, Some(ms(200)), Some(ms(900))].map(of), [all_ten; 3]);
    }
}
