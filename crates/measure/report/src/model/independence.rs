//! Whether requests of one page are independent: what was checked, and the error of the model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Ci;

/// The independent model compared with real pages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Independence {
    /// Whether samples of a side carry page ids, so that real pages could be looked at.
    pub checked: bool,
    /// What the model expects people to experience, for the side with the largest error; for the pages of the
    /// recording, not for the requested page. Absent if unchecked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_ms: Option<f64>,
    /// What people did experience there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_ms: Option<f64>,
    /// The findings as a sentence.
    pub sentence: String,
    /// One entry per side, in order.
    pub sides: Vec<SideIndependence>,
}

/// The findings for one side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SideIndependence {
    /// The side.
    pub label: String,
    /// From its page ids; absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<PageCheck>,
    /// From the order of its samples in time; absent if they carry no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neighbours: Option<NeighbourCheck>,
}

/// Real pages compared with the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PageCheck {
    /// Page views in the recording.
    pub pages: u64,
    /// Samples without a page.
    pub unpaged: u64,
    /// Whether there are enough of them to judge the model.
    pub conclusive: bool,
    /// The fewest requests of a page.
    pub requests_min: u32,
    /// The median number of requests.
    pub requests_median: u32,
    /// The most requests of a page.
    pub requests_max: u32,
    /// Mean wait for the required requests of a page, if requests were independent.
    pub model_ms: f64,
    /// Mean wait of the recorded pages: for a random choice of required requests, if not all are required.
    pub observed_ms: f64,
    /// Its confidence interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_ci_ms: Option<Ci>,
    /// The error of the model: model/observed - 1. Above 0 it is pessimistic.
    pub off: f64,
    /// The confidence interval of that, which includes the model's own sampling error.
    pub off_ci: [f64; 2],
    /// Mean time until the required number of requests has finished, whichever they are, if requests were
    /// independent.
    pub first_model_ms: f64,
    /// The same for the recorded pages.
    pub first_observed_ms: f64,
}

/// Neighbours in time compared with the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NeighbourCheck {
    /// Correlation of neighbours' ranks, -1..=1; 0 if they are unrelated.
    pub correlation: f64,
    /// The threshold above which a request counts as slow.
    pub slow_above_ms: f64,
    /// The share of slow requests.
    pub slow_share: f64,
    /// The share of slow requests among those that follow a slow one.
    pub slow_after_slow: f64,
    /// How many samples were checked.
    pub n: u64,
    /// The probability that independent samples have so many slow ones after slow ones, 0..=1.
    pub chance: f64,
    /// Mean of the slowest of each `effective_requests` neighbours; absent if there are too few.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_ms: Option<f64>,
    /// Its confidence interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_ci_ms: Option<Ci>,
    /// The same if requests were independent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_ms: Option<f64>,
}
