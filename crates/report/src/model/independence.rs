//! Whether requests of one page are independent: what was looked at, and how far the model is off.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Ci;

/// The independent model beside what the samples say of real pages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Independence {
    /// Whether samples of a side carry page ids, so that real pages could be looked at.
    pub checked: bool,
    /// What the model expects people to experience, of the side for which it is furthest off; for the pages as they are
    /// in the recording, not for the page that was asked for. Absent if unchecked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_ms: Option<f64>,
    /// What they did experience there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_ms: Option<f64>,
    /// The findings as a sentence.
    pub sentence: String,
    /// One entry a side, in their order.
    pub sides: Vec<SideIndependence>,
}

/// What one side's samples say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SideIndependence {
    /// The side.
    pub label: String,
    /// By its page ids; absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<PageCheck>,
    /// By the order of its samples in time; absent if they carry no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neighbours: Option<NeighbourCheck>,
}

/// Real pages beside the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PageCheck {
    /// Page views in the recording.
    pub pages: u64,
    /// Samples that belong to none of them.
    pub unpaged: u64,
    /// Whether there are enough of them to say whether the model holds.
    pub conclusive: bool,
    /// The fewest requests of one of them.
    pub requests_min: u32,
    /// The median.
    pub requests_median: u32,
    /// The most.
    pub requests_max: u32,
    /// Mean wait for the required requests of a page if requests were independent.
    pub model_ms: f64,
    /// Mean wait that the pages had: for a random choice of required requests, if not all are.
    pub observed_ms: f64,
    /// Its confidence interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_ci_ms: Option<Ci>,
    /// How far the model is off: model/observed - 1. Above 0 it is pessimistic.
    pub off: f64,
    /// The confidence interval of that, which allows for the model's own sampling error.
    pub off_ci: [f64; 2],
    /// Mean time until as many requests as are required were there, whichever they are, if requests were independent.
    pub first_model_ms: f64,
    /// The same as the pages had it.
    pub first_observed_ms: f64,
}

/// Neighbours in time beside the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NeighbourCheck {
    /// Correlation of neighbours' ranks, -1..=1; 0 if they have nothing to do with each other.
    pub correlation: f64,
    /// A request slower than this is called slow.
    pub slow_above_ms: f64,
    /// The share of slow requests.
    pub slow_share: f64,
    /// The share of slow requests among those that follow a slow one.
    pub slow_after_slow: f64,
    /// How many samples were looked at.
    pub n: u64,
    /// The chance that independent samples have as many slow ones after slow ones, 0..=1.
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
