//! The result of a ping run: one object per target.

use std::{collections::BTreeMap, net::IpAddr};

use schemars::JsonSchema;
use serde::Serialize;
use statistics::{Distribution, share_interval, thin_above};

use super::{Target, steps::Step};

/// A finished run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Summary {
    /// Always "longhaul.ping/1".
    pub schema: String,
    /// One per target, in the order of the command line.
    pub targets: Vec<TargetSummary>,
    /// Pings to all targets.
    pub sent: u64,
    /// Pings that received a reply in time, each counted once.
    pub received: u64,
    /// Whether the run was interrupted before all pings were sent and answered.
    pub interrupted: bool,
    /// The times when the wall clock was set, in order; at most 1000. Round trips are correct regardless.
    pub clock_steps: Vec<ClockStep>,
}

/// The wall clock was set while pings were sent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ClockStep {
    /// The last round of which a ping had been sent by then, counted from 1; 0: before the first.
    pub after_seq: u64,
    /// The size of the step; negative: back.
    pub step_ms: f64,
}

/// The replies of one target.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TargetSummary {
    /// The name or address on the command line.
    pub host: String,
    /// The address that was pinged.
    pub address: IpAddr,
    /// Pings that were due, including those that the kernel refused to send.
    pub sent: u64,
    /// Pings that received a reply in time, each counted once.
    pub received: u64,
    /// Additional replies to pings that already had one.
    pub duplicates: u64,
    /// Replies after the timeout; their pings count as lost.
    pub late: u64,
    /// Replies in time that arrived after the reply to a later ping.
    pub reordered: u64,
    /// Replies with a wrong payload; not counted as received.
    pub damaged: u64,
    /// Replies to a ping from another address than the target's; not counted as received.
    pub forged: u64,
    /// Pings that were not answered, by reason.
    pub failed_by_reason: BTreeMap<String, u64>,
    /// The share of unanswered pings, and its 95 % confidence interval, which assumes that losses are
    /// independent.
    pub loss: Loss,
    /// The mean absolute difference between the round trips of successive answered pings. Absent with fewer
    /// than two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter_ms: Option<f64>,
    /// Round-trip times. Absent without a reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_ms: Option<RoundTrips>,
}

/// A share with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Loss {
    /// The measured share.
    pub share: f64,
    /// The lower end of the 95 % confidence interval.
    pub low: f64,
    /// The upper end of the 95 % confidence interval.
    pub high: f64,
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
    /// The standard deviation. Absent with a single round trip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sd: Option<f64>,
    /// Percentiles at or above this one have fewer than 10 round trips beyond them.
    pub thin_above: f64,
}

#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) duplicates: u64,
    pub(super) late: u64,
    pub(super) damaged: u64,
    pub(super) forged: u64,
    reordered: u64,
    latest: Option<u64>,
    failed_by_reason: BTreeMap<String, u64>,
    /// All of them, so that percentiles are exact: 8 bytes each.
    rtts_ms: Vec<f64>,
}

impl Tally {
    #[expect(clippy::cast_precision_loss, reason = "2^53 ns are 104 days")]
    pub(super) fn answered(&mut self, number: u64, rtt_ns: u64) {
        self.reordered += u64::from(self.latest > Some(number));
        self.latest = self.latest.max(Some(number));
        self.rtts_ms.push(rtt_ns as f64 / 1e6);
    }

    pub(super) fn failed(&mut self, reason: &str) {
        *self.failed_by_reason.entry(reason.to_owned()).or_default() += 1;
    }

    fn summary(self, target: &Target) -> TargetSummary {
        let received = self.rtts_ms.len() as u64;
        let lost = self.failed_by_reason.values().sum::<u64>();
        TargetSummary {
            host: target.host.clone(),
            address: target.address.ip(),
            sent: received + lost,
            received,
            duplicates: self.duplicates,
            late: self.late,
            reordered: self.reordered,
            damaged: self.damaged,
            forged: self.forged,
            loss: Loss::of(lost, received + lost),
            jitter_ms: jitter(&self.rtts_ms),
            failed_by_reason: self.failed_by_reason,
            rtt_ms: Distribution::new(self.rtts_ms).ok().map(|rtts| RoundTrips::of(&rtts)),
        }
    }
}

/// The mean absolute difference of successive values.
#[expect(clippy::cast_precision_loss, reason = "there are far fewer than 2^53 pings")]
fn jitter(rtts_ms: &[f64]) -> Option<f64> {
    let pairs = rtts_ms.len().checked_sub(1).filter(|&pairs| pairs > 0)?;
    Some(rtts_ms.windows(2).map(|pair| (pair[1] - pair[0]).abs()).sum::<f64>() / pairs as f64)
}

impl Loss {
    #[expect(clippy::cast_precision_loss, reason = "there are far fewer than 2^53 pings")]
    fn of(lost: u64, all: u64) -> Self {
        let (low, high) = share_interval(lost, all);
        Self { share: lost as f64 / all.max(1) as f64, low, high }
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
    pub(super) fn of(targets: &[Target], tallies: Vec<Tally>, steps: &[Step], interrupted: bool) -> Self {
        let pings_a_round = targets.len().max(1) as u64;
        #[expect(clippy::cast_precision_loss, reason = "2^53 ns are 104 days")]
        let step = |step: &Step| ClockStep {
            after_seq: step.after.div_ceil(pings_a_round),
            step_ms: step.by as f64 / 1e6,
        };
        let targets: Vec<_> =
            targets.iter().zip(tallies).map(|(target, tally)| tally.summary(target)).collect();
        Self {
            schema: "longhaul.ping/1".to_owned(),
            sent: targets.iter().map(|target| target.sent).sum(),
            received: targets.iter().map(|target| target.received).sum(),
            targets,
            interrupted,
            clock_steps: steps.iter().map(step).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_is_the_mean_difference_of_neighbours() {
        assert_eq!(jitter(&[10.0, 13.0, 12.0]), Some(2.0));
        assert_eq!(jitter(&[10.0]), None);
        let mut tally = Tally::default();
        for number in [3, 1, 2, 4] {
            tally.answered(number, 1);
        }
        assert_eq!(tally.reordered, 2);
    }
}
