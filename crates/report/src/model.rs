//! The result of a comparison or a scenario, as data: the JSON that programs read and the page is drawn from.
//!
//! Every number is computed here in Rust; the page only draws. Times are milliseconds, shares and percentiles of the
//! `*_percentiles_ms` maps are keyed by the percentile as text ("99.9"). What was not measured is absent.

use std::collections::BTreeMap;

use claim::{Caveat, Fidelity, Judgement};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::figures::Figures;

mod charts;
mod comparison;
mod conversion;
mod differences;
pub mod figures;
mod independence;
mod pages;
mod run;
mod verdict;
mod written;

pub use charts::*;
pub use comparison::*;
pub use conversion::*;
pub use differences::*;
pub use independence::*;
pub use pages::*;
pub use run::*;
pub use verdict::*;
pub use written::*;

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
    /// The comparison itself. Without sides if no requests were measured.
    pub comparison: Comparison,
    /// Whether nothing of ours was the bottleneck. If not, the numbers describe the tool and not what it measured.
    pub valid: bool,
    /// Chart data, one entry a side, in the order of `comparison.sides`. Empty in `result.json`.
    pub charts: Vec<SideCharts>,
    /// How each other side differs from the first, percentile by percentile. Empty in `result.json`.
    pub differences: Vec<DifferenceCurve>,
    /// What a scenario measured besides the requests' latency: charts and tables, a document for each kind of measurement.
    #[serde(default)]
    pub experiments: Vec<Figures>,
    /// The same as data, a list for each kind of measurement under a name of its own: "transfers".
    #[serde(flatten)]
    #[schemars(skip)]
    pub details: BTreeMap<String, Value>,
    /// Scenario claims and whether they held. Empty for a plain comparison.
    pub claims: Vec<Judgement>,
    /// How much of a scenario was measured, if somebody ended it before its time. Then no claim is judged. Absent of a whole
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<Partial>,
    /// Faults that a scenario put on the timeline.
    pub faults: Vec<FaultMark>,
    /// The emulator's proof of innocence. Absent when nothing was emulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fidelity: Option<Fidelity>,
    /// Under which conditions all this was measured, in the order to show them.
    pub conditions: Vec<Condition>,
    /// What a reader must know before trusting the numbers, as sentences.
    pub warnings: Vec<String>,
    /// These, and why the numbers are not valid, with the kind of each. Those of the comparison that do not make it invalid are
    /// in the comparison.
    #[serde(default)]
    pub doubts: Vec<Caveat>,
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
