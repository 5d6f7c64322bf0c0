//! Counts the pings of a side, and the difference between their round trips and the world's. Pure.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statistics::Distribution;

use crate::emulator::milliseconds;

/// The pings of a side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PingResult {
    /// The side.
    pub side: String,
    /// Sending hosts.
    pub hosts: u64,
    /// Pairs of a sending host and a target.
    pub pairs: u64,
    /// Pings that were due.
    pub sent: u64,
    /// Pings with a reply in time; duplicate replies are not counted.
    pub received: u64,
    /// Difference between round trips and the world's, without queues and faults. Absent if there was no
    /// reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_ms: Option<RoundTripError>,
    /// The upper bound of the emulator's part of each of these. Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_error_ms: Option<RoundTripError>,
    /// The first few pairs without any reply.
    pub silent: Vec<Pair>,
}

/// The distribution of |measured - world's| round-trip times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoundTripError {
    /// The mean.
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// The 99th percentile. Absent with fewer than 10 replies beyond it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99: Option<f64>,
    /// The maximum.
    pub max: f64,
}

/// A pair of hosts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pair {
    /// The sender.
    pub from: String,
    /// The target.
    pub to: String,
}

#[derive(Debug)]
pub(crate) struct Tally {
    side: String,
    hosts: u64,
    pairs: u64,
    sent: u64,
    errors_ms: Vec<f64>,
    without_error_ms: Option<Vec<f64>>,
    silent: Vec<Pair>,
}

impl Tally {
    pub(crate) fn new(side: &str) -> Self {
        let side = side.to_owned();
        Self {
            side,
            hosts: 0,
            pairs: 0,
            sent: 0,
            errors_ms: Vec::new(),
            without_error_ms: Some(Vec::new()),
            silent: Vec::new(),
        }
    }

    /// The round trips of `targets` are in milliseconds; each ping is the index of a target and the
    /// round trip, if there was a reply.
    pub(crate) fn count(
        &mut self,
        host: &str,
        targets: &[(String, f64)],
        pings: impl IntoIterator<Item = (usize, Option<u64>)>,
    ) {
        self.hosts += 1;
        self.pairs += targets.len() as u64;
        let mut has_answered = vec![false; targets.len()];
        for (target, round_trip_ns) in pings {
            self.sent += 1;
            let Some(round_trip_ns) = round_trip_ns else { continue };
            has_answered[target] = true;
            self.errors_ms.push(error_ms(round_trip_ns, targets[target].1));
        }
        let silent = targets.iter().zip(has_answered).filter(|(_, has_answered)| !has_answered);
        let room = FEW - self.silent.len();
        self.silent
            .extend(silent.take(room).map(|((to, _), _)| Pair { from: host.to_owned(), to: to.clone() }));
    }

    pub(crate) fn without_error(&mut self, errors_ms: Option<Vec<f64>>) {
        match (&mut self.without_error_ms, errors_ms) {
            (Some(known), Some(more)) => known.extend(more),
            _ => self.without_error_ms = None,
        }
    }

    pub(crate) fn finish(self) -> (PingResult, Option<Distribution>, Option<Arc<Distribution>>) {
        let received = self.errors_ms.len() as u64;
        let errors = Distribution::new(self.errors_ms).ok();
        let without_error =
            self.without_error_ms.and_then(|errors| Distribution::new(errors).ok()).map(Arc::new);
        let error_ms = errors.as_ref().map(RoundTripError::of);
        let own_error_ms = error_ms.clone().zip(without_error.as_deref()).map(|(error_ms, without)| {
            let without = RoundTripError::of(without);
            RoundTripError {
                mean: error_ms.mean - without.mean,
                p50: error_ms.p50 - without.p50,
                p99: error_ms.p99.zip(without.p99).map(|(with, without)| with - without),
                max: error_ms.max - without.max,
            }
        });
        let Self { side, hosts, pairs, sent, silent, .. } = self;
        let result = PingResult { side, hosts, pairs, sent, received, error_ms, own_error_ms, silent };
        (result, errors, without_error)
    }
}

impl RoundTripError {
    fn of(errors: &Distribution) -> Self {
        Self {
            mean: errors.mean(),
            p50: errors.quantile(0.5),
            p99: (0.99 < statistics::thin_above(errors.n())).then(|| errors.quantile(0.99)),
            max: errors.max(),
        }
    }
}

pub(crate) fn error_ms(round_trip_ns: u64, world_ms: f64) -> f64 {
    (milliseconds(round_trip_ns) - world_ms).abs()
}

const FEW: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(pings: &[(usize, Option<u64>)]) -> PingResult {
        let mut tally = Tally::new("mesh");
        let targets = [("b".to_owned(), 10.0), ("c".to_owned(), 80.0)];
        tally.count("a", &targets, pings.iter().map(|&(to, ms)| (to, ms.map(|ms| ms * 1_000_000))));
        tally.finish().0
    }

    #[test]
    fn an_error_is_the_distance_from_the_world() {
        let pinged = counted(&[(0, Some(11)), (1, Some(77)), (0, Some(10))]);
        assert_eq!((pinged.sent, pinged.received, pinged.pairs), (3, 3, 2));
        let error = pinged.error_ms.unwrap();
        // |11 - 10|, |77 - 80| and 0.
        assert_eq!((error.p50, error.max), (1.0, 3.0));
        assert!((error.mean - 4.0 / 3.0).abs() < 1e-12, "{}", error.mean);
        assert_eq!(error.p99, None);
        assert_eq!(pinged.silent, []);
    }

    #[test]
    fn a_pair_without_an_answer_is_named() {
        let pinged = counted(&[(0, Some(11)), (1, None), (1, None)]);
        assert_eq!((pinged.sent, pinged.received), (3, 1));
        assert_eq!(pinged.silent, [Pair { from: "a".to_owned(), to: "c".to_owned() }]);
        assert_eq!(counted(&[(0, None)]).error_ms, None);
    }
}
