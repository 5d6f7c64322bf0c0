//! What came of a scenario.

use claim::{Doubt, Fidelity, Judgement};
use report::{FaultMark, Partial, SideInput, figures::Figures};

use crate::measurement::Measured;

/// What came of a scenario.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// One entry for each side whose requests were measured, in the order in which the file names them.
    pub sides: Vec<SideInput>,
    /// What came of each measurement, or of those of a side.
    pub measured: Vec<Measured>,
    /// The same as charts and tables, one for each kind of measurement.
    pub experiments: Vec<Figures>,
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
    /// What gives reason to doubt it, besides the planet's fidelity and what sides say of themselves.
    pub doubts: Vec<Doubt>,
    /// Under which conditions it was measured, in the order to show them.
    pub conditions: Vec<(String, String)>,
}
