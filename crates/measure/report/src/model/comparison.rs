//! The numbers of a comparison: the output of `compare --json`.

// circle: one document, whose parts share intervals and verdicts.

use std::collections::BTreeMap;

use claim::{Caveat, Doubt, Judgement};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Differences, Failures, Independence, ObservedPages, Pair, Verdict, Verdicts};

/// Two or more recordings as people experience them: the object that `compare --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// "longhaul.compare/1".
    pub schema: String,
    /// The metric compared.
    pub metric: String,
    /// Phases that were subtracted from it.
    pub excluded_phases: Vec<String>,
    /// Whether no side is invalid.
    pub valid: bool,
    /// The page that a person opens.
    pub page: Page,
    /// For a share of visitors in percent ("50", "99"): the request percentile that decides their latency, in
    /// percent.
    pub percentile_to_watch: BTreeMap<String, f64>,
    /// How the intervals were made. Absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intervals: Option<Intervals>,
    /// One entry per input, in the given order.
    pub sides: Vec<Side>,
    /// Which side wins, first for one request, then for a person on the page. Absent for a single side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdicts>,
    /// Every side against every other, if there are more than two.
    pub pairs: Vec<Pair>,
    /// Pairs of sides with the same samples, which cannot be compared.
    #[serde(default)]
    pub identical: Vec<[String; 2]>,
    /// The differences between the other sides and the first in means and percentiles, not corrected for multiple
    /// comparisons.
    #[serde(default)]
    pub differences: Vec<Differences>,
    /// Request percentiles (in percent) at which the faster of the first two sides changes.
    pub crossovers: Vec<Crossover>,
    /// Whether requests of one page are independent, as the model assumes.
    pub independence: Independence,
    /// Which phase makes the difference between the first two sides, percentile by percentile. Empty if a side has no
    /// phases.
    pub phases: Vec<PhaseDifference>,
    /// The first two sides by the value of a label. Absent if none was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breakdown: Option<Breakdown>,
    /// The requested thresholds, and whether they held.
    pub thresholds: Vec<Judgement>,
    /// How quantiles were computed, as sentences.
    pub method: String,
    /// What a reader must know before trusting the numbers, as sentences.
    pub warnings: Vec<String>,
    /// The same, and the reasons why sides are invalid, each with its kind.
    #[serde(default)]
    pub doubts: Vec<Caveat>,
}

impl Comparison {
    /// Adds doubts from reading the recordings.
    pub fn doubt(&mut self, doubts: &[Doubt]) {
        self.doubts.extend(doubts.iter().map(Caveat::from));
        self.valid = claim::is_valid(&self.doubts);
        self.warnings = claim::warnings(&self.doubts);
    }
}

/// A page: many requests, of which a share must finish before the page is usable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Page {
    /// Requests a page makes.
    pub requests: u32,
    /// The share of them that is required, 0..=1.
    pub required: f64,
    /// max(1, round(requests x required)).
    pub effective_requests: u32,
}

/// One side of a comparison. If all of its requests failed, it has no figures of latency: `expected_request_ms`, percentiles and so on are
/// absent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// The side's name.
    pub label: String,
    /// The format that it was read from.
    pub format: String,
    /// Samples read: the sum of the following four.
    pub read: u64,
    /// Samples used for the numbers.
    pub n: u64,
    /// Samples that failed and so have no latency.
    pub failed: u64,
    /// Samples without this metric.
    pub without_metric: u64,
    /// Samples outside the requested period.
    pub excluded: u64,
    /// The relative error of each value, as a share. Absent if values are exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relative_error: Option<f64>,
    /// Why the measuring program may have shaped the numbers itself, as sentences. Empty if there is no reason.
    pub invalid: Vec<String>,
    /// How much of its figures may be the emulator's own doing, at most. Absent if nothing was emulated, or if that is not
    /// known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_error_ms: Option<OwnError>,
    /// The figures of its samples. Absent if all of its requests failed.
    #[serde(flatten)]
    pub figures: Option<SideFigures>,
    /// How many of its requests and page views failed.
    #[serde(default)]
    pub failures: Failures,
    /// The waits of its real page views. Absent unless samples carry page ids of at least two pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<ObservedPages>,
    /// How many neighbours in time were resampled together, because they depend on each other. Absent if samples were
    /// treated as independent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_length: Option<u64>,
    /// Moments at which the latency changed for a longer time.
    pub shifts: Vec<Shift>,
}

/// The figures of a side's samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SideFigures {
    /// The mean.
    pub expected_request_ms: f64,
    /// Its confidence interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_request_ci_ms: Option<Ci>,
    /// Standard deviation of the samples: the root of the mean squared deviation, which is numpy's default.
    pub standard_deviation_ms: f64,
    /// The mean of the slowest of `effective_requests` independent requests.
    pub expected_experienced_ms: f64,
    /// Its confidence interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_experienced_ci_ms: Option<Ci>,
    /// The fastest sample.
    pub min_ms: f64,
    /// The slowest sample.
    pub max_ms: f64,
    /// Percentiles of one request.
    pub request_percentiles_ms: BTreeMap<String, f64>,
    /// Their confidence intervals. Empty if there are none.
    pub request_percentiles_ci_ms: BTreeMap<String, Ci>,
    /// Percentiles of what a person on the page experiences.
    pub experienced_percentiles_ms: BTreeMap<String, f64>,
    /// Their confidence intervals. Empty if there are none.
    pub experienced_percentiles_ci_ms: BTreeMap<String, Ci>,
    /// Request percentiles at or above this one (in percent) have fewer than 10 samples beyond them.
    pub thin_above: f64,
    /// The same for experienced percentiles. 0 if even the lowest is thin.
    pub experienced_thin_above: f64,
}

/// How much of each figure of a side may be the emulator's own doing, at most: the truth lies between the figure and the
/// figure less this. In ms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OwnError {
    /// Of the mean.
    pub expected_request: f64,
    /// Of the mean of the slowest of `effective_requests`.
    pub expected_experienced: f64,
    /// Of percentiles of one request.
    pub request_percentiles: BTreeMap<String, f64>,
    /// Of percentiles of what a person on the page experiences.
    pub experienced_percentiles: BTreeMap<String, f64>,
    /// Of the slowest sample.
    pub max: f64,
}

/// The ends of a confidence interval, in ms. An end is `null` if the samples cannot bound it.
pub type Ci = [Option<f64>; 2];

/// How confidence intervals were made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Intervals {
    /// The coverage of an interval: 0.95.
    pub level: f64,
    /// The number of resamples.
    pub resamples: u32,
    /// The seed of the random draws; the same seed gives the same intervals.
    pub seed: u64,
}

/// A moment at which the latency changed for a longer time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Shift {
    /// Seconds since the recording's start.
    pub at_s: f64,
    /// The median since the previous shift.
    pub before_ms: f64,
    /// The median until the next shift.
    pub after_ms: f64,
    /// How sure it is that this is not chance, 0..=1.
    pub sure: f64,
}

/// Where the difference between the first two sides comes from at one percentile of the metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseDifference {
    /// In percent, as text: "99".
    pub percentile: String,
    /// The mean time in each phase of requests around this percentile; the last entry is the part that no phase
    /// explains.
    pub phases: Vec<PhaseShare>,
    /// The phase with most of the difference; absent for a tie.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decisive: Option<String>,
}

/// One phase on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseShare {
    /// "dns", "connect", "tls", "quic", "send", "wait", "load" or "rest".
    pub phase: String,
    /// The first side.
    pub first_ms: f64,
    /// The second side.
    pub second_ms: f64,
}

/// The first two sides by the value of a label.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Breakdown {
    /// The label.
    pub label: String,
    /// Its values: first those for which the first side is worse, ordered by the number of people; then the others in
    /// the same order; then those that only one side has.
    pub groups: Vec<Group>,
    /// How many further values there are, each with fewer samples than these.
    pub omitted: u64,
    /// Samples of the two sides without this label.
    pub unlabelled: u64,
}

/// One value of a label.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// The value.
    pub name: String,
    /// The share of all samples with this value, 0..=1. This is also the share of people, if all make the same number
    /// of requests.
    pub share: f64,
    /// The numbers of the first side; absent if it has no such samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<GroupSide>,
    /// The numbers of the second side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second: Option<GroupSide>,
    /// Which side is better by the expected experienced latency; absent if only one side has such samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub experienced: Option<Verdict>,
}

/// One value of a label on one side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupSide {
    /// Samples.
    pub n: u64,
    /// The median.
    pub median_ms: f64,
    /// The mean.
    pub expected_request_ms: f64,
    /// The mean of the slowest of `effective_requests` independent requests of this group.
    pub expected_experienced_ms: f64,
    /// Whether fewer than 10 samples decide the wait of the median person of this group.
    pub thin: bool,
}

/// A percentile at which the faster side changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Crossover {
    /// In percent.
    pub percentile: f64,
    /// Its confidence interval, in percent. Absent if the samples cannot bound it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ci: Option<[f64; 2]>,
    /// The latency there.
    pub latency_ms: f64,
    /// The side that is faster above it.
    pub faster_above: String,
}
