//! The numbers of a comparison: what `compare --json` prints.

// circle: one document, whose parts share intervals and verdicts.

use std::collections::BTreeMap;

use claim::{Caveat, Doubt, Judgement};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Differences, Failures, Independence, ObservedPages, Pair, Verdict, Verdicts};

/// Two (or more) recordings as people experience them: the object that `compare --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// "longhaul.compare/1".
    pub schema: String,
    /// The metric compared.
    pub metric: String,
    /// Phases that were taken out of it.
    pub excluded_phases: Vec<String>,
    /// Whether no side is invalid.
    pub valid: bool,
    /// The page that a person opens.
    pub page: Page,
    /// For a share of visitors in percent ("50", "99"): the request percentile, in percent, that decides for them.
    pub percentile_to_watch: BTreeMap<String, f64>,
    /// How the intervals below were made. Absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intervals: Option<Intervals>,
    /// One entry an input, in the order given.
    pub sides: Vec<Side>,
    /// Which side wins, first for one request, then for a person on the page. Absent for a single side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdicts>,
    /// Every side against every other, where there are more than two.
    pub pairs: Vec<Pair>,
    /// Sides that hold the same samples: there is nothing to compare them by.
    #[serde(default)]
    pub identical: Vec<[String; 2]>,
    /// How each other side differs from the first in means and percentiles, each alone.
    #[serde(default)]
    pub differences: Vec<Differences>,
    /// Request percentiles (in percent) at which the faster of the first two sides changes.
    pub crossovers: Vec<Crossover>,
    /// Whether requests of one page are independent, as the model has it.
    pub independence: Independence,
    /// Which phase makes the difference between the first two sides, percentile by percentile. Empty if a side knows
    /// nothing of phases.
    pub phases: Vec<PhaseDifference>,
    /// The first two sides by the value of a label. Absent if it was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breakdown: Option<Breakdown>,
    /// The thresholds that were asked for, and whether they held.
    pub thresholds: Vec<Judgement>,
    /// How quantiles were computed, as sentences.
    pub method: String,
    /// What a reader must know before trusting the numbers, as sentences.
    pub warnings: Vec<String>,
    /// These, and why sides are invalid, with the kind of each.
    #[serde(default)]
    pub doubts: Vec<Caveat>,
}

impl Comparison {
    /// Adds reasons to doubt the numbers: those of reading them.
    pub fn doubt(&mut self, doubts: &[Doubt]) {
        self.doubts.extend(doubts.iter().map(Caveat::from));
        self.valid = claim::is_valid(&self.doubts);
        self.warnings = claim::warnings(&self.doubts);
    }
}

/// A page: many requests, of which a share must finish before the person is served.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Page {
    /// Requests a page makes.
    pub requests: u32,
    /// Share of them that is required, 0..=1.
    pub required: f64,
    /// max(1, round(requests x required)).
    pub effective_requests: u32,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// What the side is called.
    pub label: String,
    /// Which format it was read from.
    pub format: String,
    /// Samples read: the sum of the four that follow.
    pub read: u64,
    /// Samples behind the numbers.
    pub n: u64,
    /// Samples that failed and so have no latency.
    pub failed: u64,
    /// Samples that carry no such metric.
    pub without_metric: u64,
    /// Samples outside the period that was asked for.
    pub excluded: u64,
    /// How far each value may lie from the truth, as a share of it. Absent if values are exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relative_error: Option<f64>,
    /// Why whatever measured this side may have shaped the numbers itself, as sentences. Empty when all is well.
    pub invalid: Vec<String>,
    /// The mean.
    pub expected_request_ms: f64,
    /// Its confidence interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_request_ci_ms: Option<Ci>,
    /// Standard deviation of the samples: the root of the mean squared deviation, as numpy has it by default.
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
    /// The same for experienced percentiles. 0 when even the lowest is thin.
    pub experienced_thin_above: f64,
    /// How many of its requests and page views failed.
    #[serde(default)]
    pub failures: Failures,
    /// What its real page views waited. Absent unless samples carry page ids, of at least two pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<ObservedPages>,
    /// How many neighbours in time the resampling kept together, because they are alike. Absent if samples were taken to
    /// be independent of each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_length: Option<u64>,
    /// Moments at which the latency changed for longer.
    pub shifts: Vec<Shift>,
}

/// The ends of a confidence interval, in ms. An end is `null` where the samples cannot bound it.
pub type Ci = [Option<f64>; 2];

/// How confidence intervals were made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Intervals {
    /// How often such an interval contains the truth: 0.95.
    pub level: f64,
    /// How many times the samples were drawn anew.
    pub resamples: u32,
    /// The seed of the draws: with it, anybody gets the same intervals.
    pub seed: u64,
}

/// A moment at which the latency changed for longer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Shift {
    /// Seconds since the recording's start.
    pub at_s: f64,
    /// The median before it, back to the shift before.
    pub before_ms: f64,
    /// The median after it, up to the next shift.
    pub after_ms: f64,
    /// How sure it is that this is not chance, 0..=1.
    pub sure: f64,
}

/// Where the first two sides' difference comes from at one percentile of the metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseDifference {
    /// In percent, as text: "99".
    pub percentile: String,
    /// What requests around this percentile spend in each phase, on average; the last entry is what no phase explains.
    pub phases: Vec<PhaseShare>,
    /// The phase with most of the difference; absent if the two are level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decisive: Option<String>,
}

/// One phase in both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseShare {
    /// "dns", "connect", "tls", "send", "wait", "load" or "rest".
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
    /// Its values: first those for which the first side is worse, those that concern most people first; then the others,
    /// sorted so too; then those that only one side has.
    pub groups: Vec<Group>,
    /// Further values, with fewer samples than any of these.
    pub omitted: u64,
    /// Samples of the two sides that have no such label.
    pub unlabelled: u64,
}

/// One value of a label.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// The value.
    pub name: String,
    /// The share of all samples that are in it, 0..=1: of all people, if all make as many requests.
    pub share: f64,
    /// The numbers of the first side; absent if it has no such samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<GroupSide>,
    /// The numbers of the second side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second: Option<GroupSide>,
    /// Which is better by the expected experienced latency; absent if only one side has such samples.
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
    /// Whether fewer than 10 samples decide what the median person of this group waits for.
    pub thin: bool,
}

/// A percentile at which the faster side changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Crossover {
    /// In percent.
    pub percentile: f64,
    /// Its confidence interval, in percent. Absent if the samples cannot tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ci: Option<[f64; 2]>,
    /// The latency there.
    pub latency_ms: f64,
    /// The side that is faster above it.
    pub faster_above: String,
}
