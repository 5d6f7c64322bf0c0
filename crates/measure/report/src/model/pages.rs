//! The waits of a recording's page views, and failures.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Basis, Ci};

/// Page views as they were recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObservedPages {
    /// Page views.
    pub views: u64,
    /// Complete page views: no request that the page requires failed. Only they have a wait.
    pub whole: u64,
    /// The fewest requests of a page, failed ones included.
    pub requests_min: u32,
    /// The median number of requests.
    pub requests_median: u32,
    /// The most requests of a page.
    pub requests_max: u32,
    /// The mean wait of complete page views. Absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_ms: Option<f64>,
    /// Its confidence interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_ci_ms: Option<Ci>,
    /// Percentiles of the waits of complete page views. Empty if there are none.
    pub percentiles_ms: BTreeMap<String, f64>,
    /// Their confidence intervals. Empty if there are none.
    pub percentiles_ci_ms: BTreeMap<String, Ci>,
    /// Percentiles at or above this one (in percent) have fewer than 10 views beyond them.
    pub thin_above: f64,
    /// How many consecutive views were resampled together, because they depend on each other. Absent if views were
    /// treated as independent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_length: Option<u64>,
}

/// How many requests and page views of a side failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Default)]
pub struct Failures {
    /// The share of its requests that failed, 0..=1.
    pub request_share: f64,
    /// Its confidence interval (Clopper and Pearson).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_share_ci: Option<[f64; 2]>,
    /// The share of page views that failed, 0..=1, because a request that the page requires failed.
    pub page_share: f64,
    /// Its confidence interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_share_ci: Option<[f64; 2]>,
    /// Whether these are page views of the recording or of the model: 1 - (1 - request_share)^effective_requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
}
