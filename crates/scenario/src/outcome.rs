//! What came of a scenario.

use planet::Fidelity;
use recording::Series;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{claim::Judgement, outage::Outages, pinged::Pinged, printed::Printed, transferred::Transferred};

/// What came of a scenario.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// One entry for each side that probes measured, in the order in which the file names them.
    pub sides: Vec<Side>,
    /// How long the hosts of those sides went without an answer.
    pub outages: Vec<Outages>,
    /// The transfers, in the file's order.
    pub transfers: Vec<Transferred>,
    /// One entry for each side that pinged.
    pub pings: Vec<Pinged>,
    /// What commands printed, in the file's order.
    pub commands: Vec<Printed>,
    /// The claims, judged.
    pub claims: Vec<Judgement>,
    /// What happened meanwhile.
    pub faults: Vec<FaultMark>,
    /// How faithful the planet was.
    pub fidelity: Fidelity,
    /// When measuring started, RFC 3339.
    pub start: Option<String>,
    /// How much of it was measured, if somebody ended it before its time. Then no claim is judged.
    pub partial: Option<Partial>,
    /// What a reader must know before trusting it, as sentences.
    pub warnings: Vec<String>,
    /// Under which conditions it was measured, in the order to show them.
    pub conditions: Vec<(String, String)>,
}

/// How much of a scenario was measured when somebody ended it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Partial {
    /// When that was, seconds since measuring started.
    pub after_s: f64,
    /// How long measuring would have taken, seconds, as far as the file says it.
    pub of_s: f64,
}

/// One side of a scenario: the samples of all its probes.
#[derive(Debug, Clone)]
pub struct Side {
    /// Its name.
    pub label: String,
    /// Its samples.
    pub series: Series,
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
