//! Chart data: curves as columns, computed here so that the page only draws.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Ci;

/// The chart data of one side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SideCharts {
    /// The side's label.
    pub label: String,
    /// The quantile function: latency at each of `share`. Both ascend; the first share is 0, the last one 1. Dense in
    /// the tail: the slowest samples are all included. Interpolate linearly between entries.
    pub quantiles: Quantiles,
    /// The experienced latencies for 1, 2, 3, ... effective requests: entry i is for i + 1.
    pub experienced: Vec<Experienced>,
    /// The confidence band of the quantile function. Absent if there are no intervals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub band: Option<Band>,
    /// The waits of real page views, as a quantile function over page views. Absent unless samples carry page ids.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_views: Option<Quantiles>,
    /// Its confidence band. Absent if there are no intervals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_views_band: Option<Band>,
    /// Percentiles over time. Absent when samples carry no time; empty where they fill no interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_time: Option<OverTime>,
    /// The whole distribution over time. Absent when samples carry no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heat: Option<Heat>,
    /// The time in each phase, by percentile of the metric. Absent when samples carry no phases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phases: Option<PhaseStack>,
}

/// A pointwise confidence band of a quantile function, as columns: it holds at each share, not for the whole curve at
/// once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Band {
    /// Shares of requests, 0..=1, ascending. The corresponding share of visitors of a page is this share to the power
    /// of the page's effective requests.
    pub share: Vec<f64>,
    /// The interval at each share.
    pub ci_ms: Vec<Ci>,
}

/// The difference between a side and the first, percentile by percentile, as columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DifferenceCurve {
    /// The first side.
    pub first: String,
    /// The side that is compared with it.
    pub second: String,
    /// Shares of requests, 0..=1, ascending.
    pub share: Vec<f64>,
    /// The second side's latency minus the first's: if above 0, the second is slower.
    pub difference_ms: Vec<f64>,
    /// The interval at each share. Empty if there are none.
    pub ci_ms: Vec<Ci>,
}

/// The whole distribution over time: how many samples started in each interval and had a latency in each row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Heat {
    /// Length of an interval in seconds.
    pub interval_s: f64,
    /// Start of the first interval, seconds since the measurement's start.
    pub start_s: f64,
    /// How many intervals there are.
    pub intervals: u32,
    /// The edges of the rows, ascending; one more than the number of rows.
    pub edges_ms: Vec<f64>,
    /// Sample counts by interval: all rows of the first interval from the lowest latency, then the next interval.
    pub counts: Vec<u32>,
    /// Samples in a first or last interval that the recording covers only in part. They are not in `counts`.
    #[serde(default)]
    pub left_out: u64,
}

/// The time that requests spend in each phase, by percentile of the metric, as columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseStack {
    /// Shares of requests, 0..=1, ascending.
    pub share: Vec<f64>,
    /// The phases in the order in which they occur, and last the part that no phase explains. Their sum is the
    /// metric.
    pub phases: Vec<PhaseColumn>,
}

/// One phase of a [`PhaseStack`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseColumn {
    /// "dns", "connect", "tls", "quic", "send", "wait", "load" or "rest".
    pub phase: String,
    /// The mean over requests around each share; 0 if it never occurred.
    pub mean_ms: Vec<f64>,
}

/// A quantile function as columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Quantiles {
    /// Shares of samples, 0..=1.
    pub share: Vec<f64>,
    /// The latency at each share.
    pub latency_ms: Vec<f64>,
}

/// What a person experiences, for one number of effective requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Experienced {
    /// Expected experienced latency.
    pub expected_ms: f64,
    /// Latency at the 50th, 75th, 90th, 95th, 99th, 99.9th and 99.99th percentile of people.
    pub percentiles_ms: [f64; 7],
}

/// Percentiles over time as columns; one entry for each interval that has samples and that the recording covers.
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
    /// Samples in a first or last interval that the recording covers only in part. They are in no entry, because a
    /// tail of fewer samples looks shorter.
    #[serde(default)]
    pub left_out: u64,
}
