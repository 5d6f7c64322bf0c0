//! Facts about a run besides its numbers: how much of it took place, and its faults.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much of a scenario was measured when it was interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Partial {
    /// When it was interrupted, seconds since measuring started.
    pub after_s: f64,
    /// How long the whole measurement would have taken, seconds, according to the file.
    pub of_s: f64,
}

/// A fault on the timeline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultMark {
    /// What happened, as a phrase: "london-newyork: loss 5%".
    pub label: String,
    /// When it began, seconds since measuring started.
    pub at_s: f64,
    /// When it ended; absent if it lasted to the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until_s: Option<f64>,
}

impl FaultMark {
    /// From when to when it acted, seconds since measuring started.
    pub fn stretch_s(&self) -> [f64; 2] {
        [self.at_s, self.until_s.unwrap_or(f64::INFINITY)]
    }
}
