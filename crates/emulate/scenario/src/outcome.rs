//! The outcome of a scenario.

use claim::{Doubt, Fidelity, Judgement};
use report::{FaultMark, Partial, SideInput, figures::Figures};

use crate::measurement::ResultEntry;

/// The outcome of a scenario.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// One entry for each measured side, in the order of the file.
    pub sides: Vec<SideInput>,
    /// The results, per measurement or per side.
    pub measured: Vec<ResultEntry>,
    /// The same results as charts and tables.
    pub experiments: Vec<Figures>,
    /// The judged claims.
    pub claims: Vec<Judgement>,
    /// The faults.
    pub faults: Vec<FaultMark>,
    /// The fidelity of the planet.
    pub fidelity: Fidelity,
    /// When measuring started, RFC 3339.
    pub start: Option<String>,
    /// The measured part of an interrupted run. Its claims are not judged.
    pub partial: Option<Partial>,
    /// Reasons to doubt the outcome, besides those of the planet and the sides.
    pub doubts: Vec<Doubt>,
    /// The conditions of the measurement, in display order.
    pub conditions: Vec<(String, String)>,
}
