//! The result of a comparison or a scenario, as data: the JSON for programs and the input of the
//! page.
//!
//! Times are in milliseconds. Maps of percentiles have the percentile as text for their key
//! ("99.9"). Values that were not measured are absent.

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
mod written_files;

pub use charts::*;
pub use comparison::*;
pub use conversion::*;
pub use differences::*;
pub use independence::*;
pub use pages::*;
pub use run::*;
pub use verdict::*;
pub use written_files::*;

/// Everything that the report page shows; without chart data, everything in `result.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// [`REPORT_SCHEMA`].
    pub schema: String,
    /// The title of the page.
    pub title: String,
    /// One or two sentences on the question, if a scenario has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The metric that every number below is about: "ttfb", "latency", ...
    pub metric: String,
    /// When the measurement started, RFC 3339, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// The comparison itself. Has no sides if no requests were measured.
    pub comparison: Comparison,
    /// False if this program was the bottleneck: then the numbers describe the tool and not what it measured.
    pub valid: bool,
    /// Chart data, one entry per side, in the order of `comparison.sides`. Empty in `result.json`.
    pub charts: Vec<SideCharts>,
    /// How each other side differs from the first, percentile by percentile. Empty in `result.json`.
    pub differences: Vec<DifferenceCurve>,
    /// Everything else that a scenario measured besides the latency of requests: one document of charts and tables
    /// for each kind of measurement.
    #[serde(default)]
    pub experiments: Vec<Figures>,
    /// The same as data: one list for each kind of measurement, under its own name such as "transfers".
    #[serde(flatten)]
    #[schemars(skip)]
    pub details: BTreeMap<String, Value>,
    /// Scenario claims, and whether they held. Empty for a plain comparison.
    pub claims: Vec<Judgement>,
    /// How much of a scenario was measured, if it was interrupted. Then no claim is judged. Absent for a complete
    /// run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<Partial>,
    /// The faults on the scenario's timeline.
    pub faults: Vec<FaultMark>,
    /// How faithful the emulator was. Absent if nothing was emulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fidelity: Option<Fidelity>,
    /// The conditions of the measurement, in the order to show them.
    pub conditions: Vec<Condition>,
    /// What a reader must know before trusting the numbers, as sentences.
    pub warnings: Vec<String>,
    /// The same, and the reasons why the numbers are not valid, each with its kind. Doubts of the comparison that do
    /// not make it invalid are in the comparison.
    #[serde(default)]
    pub doubts: Vec<Caveat>,
}

/// A named condition of the measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Condition {
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
}

/// The schema of [`Report`] that this version writes.
pub const REPORT_SCHEMA: &str = "longhaul.report/1";
