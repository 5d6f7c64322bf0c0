//! Differences between two sides: means and percentiles, absolute and relative.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Basis, Certainty, Ci};

/// One side minus the first, number by number. Not corrected for multiple comparisons: of twenty 95 % intervals, one
/// misses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Differences {
    /// The first side.
    pub first: String,
    /// The side that is compared with it.
    pub second: String,
    /// Of requests: "mean", and percentiles by their names: "50", "75", "90", "95", "99".
    pub request: BTreeMap<String, Difference>,
    /// The same for what people on the page wait.
    pub experienced: BTreeMap<String, Difference>,
    /// The source of people's waits.
    pub basis: Basis,
}

/// The difference between two sides in one number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// The second side's number minus the first's: if above 0, the second is slower.
    pub difference_ms: f64,
    /// The same as a share of the first's number. Absent if that is 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relative: Option<f64>,
    /// Its confidence interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ci_ms: Option<Ci>,
    /// The interval, as shares of the first's number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relative_ci: Option<Ci>,
    /// How sure it is which of the two is smaller, 0.5..=1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sure: Option<f64>,
    /// The word for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certainty: Option<Certainty>,
    /// Whether fewer than 10 samples lie beyond the number on a side.
    pub thin: bool,
}
