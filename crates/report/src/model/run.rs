//! What a run was beside its numbers: how much of it took place, and what happened meanwhile.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much of a scenario was measured when somebody ended it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Partial {
    /// When that was, seconds since measuring started.
    pub after_s: f64,
    /// How long measuring would have taken, seconds, as far as the file says it.
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
