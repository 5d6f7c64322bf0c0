//! What a run of pings comes to: one object a target.

use std::{collections::BTreeMap, net::IpAddr};

use experience::{Distribution, thin_above};
use schemars::JsonSchema;
use serde::Serialize;

use super::Target;

/// A finished run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Summary {
    /// Always "longhaul.ping/1".
    pub schema: String,
    /// One a target, in the order in which they were given.
    pub targets: Vec<TargetSummary>,
    /// Pings to all targets.
    pub sent: u64,
    /// Pings that were answered in time, each counted once.
    pub received: u64,
}

/// The answers of one target.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TargetSummary {
    /// The name or address as it was given.
    pub host: String,
    /// The address that was pinged.
    pub address: IpAddr,
    /// Pings that were due, those that the kernel refused to send included.
    pub sent: u64,
    /// Pings that were answered in time, each counted once.
    pub received: u64,
    /// Further replies to pings that were answered already.
    pub duplicates: u64,
    /// Replies after the timeout; their pings count as lost.
    pub late: u64,
    /// Replies with a wrong payload; they do not count as answers.
    pub damaged: u64,
    /// Pings that were not answered, by reason.
    pub failed_by_reason: BTreeMap<String, u64>,
    /// Round-trip times. Absent if there was no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_ms: Option<RoundTrips>,
}

/// The round-trip times of one target, ms.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RoundTrips {
    /// Round trips measured.
    pub n: usize,
    /// The least.
    pub min: f64,
    /// The mean.
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The greatest.
    pub max: f64,
    /// How far they spread: the root of the mean squared deviation. Absent with a single round trip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sd: Option<f64>,
    /// Percentiles at or above this one have fewer than 10 round trips beyond them.
    pub thin_above: f64,
}

/// The counts of a target while the run lasts.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) duplicates: u64,
    pub(super) late: u64,
    pub(super) damaged: u64,
    failed_by_reason: BTreeMap<String, u64>,
    /// All of them, so that percentiles are exact: 8 bytes each.
    rtts_ms: Vec<f64>,
}

impl Tally {
    #[expect(clippy::cast_precision_loss, reason = "2^53 ns are 104 days")]
    pub(super) fn answered(&mut self, rtt_ns: u64) {
        self.rtts_ms.push(rtt_ns as f64 / 1e6);
    }

    pub(super) fn failed(&mut self, reason: &str) {
        *self.failed_by_reason.entry(reason.to_owned()).or_default() += 1;
    }

    fn summary(self, target: &Target) -> TargetSummary {
        let received = self.rtts_ms.len() as u64;
        TargetSummary {
            host: target.host.clone(),
            address: target.address.ip(),
            sent: received + self.failed_by_reason.values().sum::<u64>(),
            received,
            duplicates: self.duplicates,
            late: self.late,
            damaged: self.damaged,
            failed_by_reason: self.failed_by_reason,
            // It fails for want of a sample only.
            rtt_ms: Distribution::new(self.rtts_ms).ok().map(|rtts| RoundTrips::of(&rtts)),
        }
    }
}

impl RoundTrips {
    fn of(rtts: &Distribution) -> Self {
        Self {
            n: rtts.n(),
            min: rtts.min(),
            mean: rtts.mean(),
            p50: rtts.quantile(0.5),
            p99: rtts.quantile(0.99),
            max: rtts.max(),
            sd: (rtts.n() > 1).then(|| rtts.standard_deviation()),
            thin_above: 100.0 * thin_above(rtts.n()),
        }
    }
}

impl Summary {
    pub(super) fn of(targets: &[Target], tallies: Vec<Tally>) -> Self {
        let targets: Vec<_> =
            targets.iter().zip(tallies).map(|(target, tally)| tally.summary(target)).collect();
        Self {
            schema: "longhaul.ping/1".to_owned(),
            sent: targets.iter().map(|target| target.sent).sum(),
            received: targets.iter().map(|target| target.received).sum(),
            targets,
        }
    }
}
