//! The outcome of a scenario.

use claim::{Doubt, Fidelity, Judgement};
use report::{FaultMark, Partial, SideInput, figures::Figures};

use crate::measurement::ResultEntry;

/// The outcome of a scenario.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// One entry for each side whose requests were measured, in the order of the file.
    pub sides: Vec<SideInput>,
    /// The result of each measurement, or of the measurements of a side.
    pub measured: Vec<ResultEntry>,
    /// The same as charts and tables, one document for each kind of measurement.
    pub experiments: Vec<Figures>,
    /// The claims, judged.
    pub claims: Vec<Judgement>,
    /// The faults.
    pub faults: Vec<FaultMark>,
    /// How faithful the planet was.
    pub fidelity: Fidelity,
    /// When measuring started, RFC 3339.
    pub start: Option<String>,
    /// How much was measured, if the run was interrupted. Then no claim is judged.
    pub partial: Option<Partial>,
    /// Reasons to doubt the outcome, besides the planet's fidelity and the doubts of the sides.
    pub doubts: Vec<Doubt>,
    /// The conditions of the measurement, in the order to show them.
    pub conditions: Vec<(String, String)>,
}
