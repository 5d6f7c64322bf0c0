//! The outcome of a scenario.

use claim::{Doubt, Fidelity, Judgement};
use report::{FaultMark, Partial, SideInput, figures::Figures};

use crate::measurement::ResultEntry;

/// The outcome of a scenario.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// One entry for each side whose requests were measured, in the order of the file.
    pub sides: Vec<SideInput>,
    /// The results, per measurement or per side.
    pub measured: Vec<ResultEntry>,
    /// The same results as charts and tables, one document for each kind of measurement.
    pub experiments: Vec<Figures>,
    /// The judged claims.
    pub claims: Vec<Judgement>,
    /// The faults.
    pub faults: Vec<FaultMark>,
    /// The fidelity of the planet.
    pub fidelity: Fidelity,
    /// When measuring started, RFC 3339.
    pub start: Option<String>,
    /// The measured part of a run that was interrupted. Its claims are not judged.
    pub partial: Option<Partial>,
    /// Reasons to doubt the outcome, in addition to the planet's fidelity and the doubts of the sides.
    pub doubts: Vec<Doubt>,
    /// The conditions of the measurement, in display order.
    pub conditions: Vec<(String, String)>,
}
