//! The result of a comparison or a scenario, as data: the JSON that programs read and the page is drawn from.
//!
//! Every number is computed here in Rust; the page only draws. Times are milliseconds, shares and percentiles of the
//! `*_percentiles_ms` maps are keyed by the percentile as text ("99.9"). What was not measured is absent.

use std::collections::BTreeMap;

use planet::Fidelity;
use scenario::{FaultMark, Judgement};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All that the report page shows, and without the charts all that `result.json` holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// [`REPORT_SCHEMA`].
    pub schema: String,
    /// What the page is called.
    pub title: String,
    /// One or two sentences on what was asked, if a scenario says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The metric that every number below is about: "ttfb", "latency", ...
    pub metric: String,
    /// When the measurement started, RFC 3339, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// The comparison itself.
    pub comparison: Comparison,
    /// Whether nothing of ours was the bottleneck. If not, the numbers describe the tool and not what it measured.
    pub valid: bool,
    /// Chart data, one entry a side, in the order of `comparison.sides`. Empty in `result.json`.
    pub charts: Vec<SideCharts>,
    /// Scenario claims and whether they held. Empty for a plain comparison.
    pub claims: Vec<Judgement>,
    /// Faults that a scenario put on the timeline.
    pub faults: Vec<FaultMark>,
    /// The emulator's proof of innocence. Absent when nothing was emulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fidelity: Option<Fidelity>,
    /// Under which conditions all this was measured, in the order to show them.
    pub conditions: Vec<Condition>,
    /// What a reader must know before trusting the numbers, as sentences.
    pub warnings: Vec<String>,
}

/// Two (or more) recordings as people experience them: the object that `compare --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// "longhaul.compare/1".
    pub schema: String,
    /// The metric compared.
    pub metric: String,
    /// Whether no side is invalid.
    pub valid: bool,
    /// The page that a person opens.
    pub page: Page,
    /// For a share of visitors in percent ("50", "99"): the request percentile, in percent, that decides for them.
    pub percentile_to_watch: BTreeMap<String, f64>,
    /// One entry an input, in the order given.
    pub sides: Vec<Side>,
    /// Which side wins, first for one request, then for a person on the page. Absent for a single side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdicts>,
    /// Request percentiles (in percent) at which the faster of the first two sides changes.
    pub crossovers: Vec<Crossover>,
    /// How quantiles were computed, as a sentence.
    pub method: String,
    /// What a reader must know before trusting the numbers, as sentences.
    pub warnings: Vec<String>,
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
    /// Samples behind the numbers.
    pub n: u64,
    /// Samples that failed and so have no latency.
    pub failed: u64,
    /// Samples that carry no such metric.
    pub without_metric: u64,
    /// Why whatever measured this side may have shaped the numbers itself, as sentences. Empty when all is well.
    pub invalid: Vec<String>,
    /// The mean.
    pub expected_request_ms: f64,
    /// Standard deviation of the samples.
    pub standard_deviation_ms: f64,
    /// The mean of the slowest of `effective_requests` independent requests.
    pub expected_experienced_ms: f64,
    /// The fastest sample.
    pub min_ms: f64,
    /// The slowest sample.
    pub max_ms: f64,
    /// Percentiles of one request.
    pub request_percentiles_ms: BTreeMap<String, f64>,
    /// Percentiles of what a person on the page experiences.
    pub experienced_percentiles_ms: BTreeMap<String, f64>,
    /// Request percentiles at or above this one (in percent) have fewer than 10 samples beyond them.
    pub thin_above: f64,
    /// The same for experienced percentiles. 0 when even the lowest is thin.
    pub experienced_thin_above: f64,
}

/// Who is better at what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdicts {
    /// By the median request.
    pub median_request: Verdict,
    /// By the expected request latency.
    pub request: Verdict,
    /// By the expected experienced latency.
    pub experienced: Verdict,
    /// The verdicts as one sentence.
    pub sentence: String,
}

/// The best side by one number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// Label of the better side; absent for a tie.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub better: Option<String>,
    /// By how much it beats the next best.
    pub difference_ms: f64,
}

/// A percentile at which the faster side changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Crossover {
    /// In percent.
    pub percentile: f64,
    /// The latency there.
    pub latency_ms: f64,
    /// The side that is faster above it.
    pub faster_above: String,
}

/// What the charts draw of one side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SideCharts {
    /// The side's label.
    pub label: String,
    /// The quantile function: latency at each of `share`, both ascending, first entry share 0, last share 1. Dense in
    /// the tail: the slowest samples are all there. Interpolate linearly between entries.
    pub quantiles: Quantiles,
    /// The experienced numbers for effective requests 1, 2, 3, ...: entry i is for i + 1.
    pub experienced: Vec<Experienced>,
    /// Percentiles over time. Absent when samples carry no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_time: Option<OverTime>,
}

/// A quantile function as columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Quantiles {
    /// Shares of samples, 0..=1.
    pub share: Vec<f64>,
    /// The latency at that share.
    pub latency_ms: Vec<f64>,
}

/// What a person experiences for one number of effective requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Experienced {
    /// Expected experienced latency.
    pub expected_ms: f64,
    /// Latency at the 50th, 75th, 90th, 95th, 99th, 99.9th and 99.99th percentile of people.
    pub percentiles_ms: [f64; 7],
}

/// Percentiles over time as columns; one entry an interval that has samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OverTime {
    /// Length of an interval in seconds.
    pub interval_s: f64,
    /// Start of the interval, seconds since the measurement's start.
    pub start_s: Vec<f64>,
    /// Samples in the interval.
    pub count: Vec<u64>,
    /// Median.
    pub p50_ms: Vec<f64>,
    /// 90th percentile.
    pub p90_ms: Vec<f64>,
    /// 99th percentile.
    pub p99_ms: Vec<f64>,
    /// Maximum.
    pub max_ms: Vec<f64>,
}

/// A named condition of the measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Condition {
    /// What.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// The schema of [`Report`] that this version writes.
pub const REPORT_SCHEMA: &str = "longhaul.report/1";
