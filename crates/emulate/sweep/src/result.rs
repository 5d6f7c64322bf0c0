//! The result of a sweep as data, for `--json`, tables and charts.

use claim::{Caveat, Doubt};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Plan, cell::Parameters, figures::Figures, record::Record};

/// The result of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Sweep {
    /// `longhaul.tcp.sweep/1`.
    pub schema: String,
    /// Version of Longhaul.
    pub longhaul: String,
    /// The kernel of the machine and of both hosts.
    pub kernel: String,
    /// Whether every cell has `repeat` runs and all of them are valid.
    pub valid: bool,
    /// Number of runs per cell.
    pub repeat: u32,
    /// All cells; the last parameter changes fastest.
    pub cells: Vec<Cell>,
}

/// A combination of parameters and its results.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Cell {
    /// The parameters.
    pub parameters: Parameters,
    /// Whether the figures are from valid runs.
    pub valid: bool,
    /// Number of runs in the figures.
    pub n: usize,
    /// Summary of the valid runs; of all measured runs if no run is valid.
    #[serde(flatten)]
    pub figures: Option<Figures>,
    /// All runs.
    pub runs: Vec<Measurement>,
}

/// One run and its result.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Measurement {
    /// Names its files: `cells/NAME.toml` and `cells/NAME/`.
    pub name: String,
    /// The state of the run.
    pub state: State,
    /// Reasons why the run is invalid, as sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// Warnings about the figures, as sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Both, with a reason identifier for each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Caveat>,
    /// The measured values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub figures: Option<Figures>,
}

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The run has a valid result.
    Valid,
    /// The emulation or the reader was the bottleneck, although no other run was concurrent.
    Invalid,
    /// A program of the run failed.
    Failed,
    /// The run has not been measured.
    Missing,
}

#[derive(Debug)]
pub(super) enum Ended {
    Measured(Box<Record>),
    Failed(String),
    Missing,
}

impl Sweep {
    pub(super) fn new(plan: &Plan, ended: Vec<Ended>) -> Self {
        let mut cells: Vec<_> =
            plan.cells.iter().map(|parameters| (parameters.clone(), Vec::new())).collect();
        for (run, ended) in std::iter::zip(&plan.runs, ended) {
            cells[run.cell].1.push(Measurement::new(&run.name, ended));
        }
        let cells: Vec<_> = cells.into_iter().map(|(parameters, runs)| Cell::new(parameters, runs)).collect();
        Self {
            schema: SCHEMA.to_owned(),
            longhaul: env!("CARGO_PKG_VERSION").to_owned(),
            kernel: plan.machine.kernel.to_string(),
            valid: cells.iter().flat_map(|cell| &cell.runs).all(|run| run.state == State::Valid),
            repeat: plan.grid.repeat,
            cells,
        }
    }

    /// Number of runs in this state.
    pub fn count(&self, state: State) -> usize {
        self.cells.iter().flat_map(|cell| &cell.runs).filter(|run| run.state == state).count()
    }
}

impl Cell {
    fn new(parameters: Parameters, runs: Vec<Measurement>) -> Self {
        let of = |state| -> Vec<&Figures> {
            runs.iter().filter(|run| run.state == state).filter_map(|run| run.figures.as_ref()).collect()
        };
        let (valid, invalid) = (of(State::Valid), of(State::Invalid));
        let used = if valid.is_empty() { &invalid } else { &valid };
        Self { parameters, valid: !valid.is_empty(), n: used.len(), figures: Figures::of_all(used), runs }
    }
}

impl Measurement {
    fn new(name: &str, ended: Ended) -> Self {
        let (state, doubts, figures) = match ended {
            Ended::Measured(record) => {
                let state = if record.is_valid() { State::Valid } else { State::Invalid };
                (state, record.doubts(), Some(record.read.figures))
            }
            Ended::Failed(why) => (State::Failed, vec![Doubt::RunFailed { why }.into()], None),
            Ended::Missing => (State::Missing, Vec::new(), None),
        };
        let (reasons, warnings) = (claim::reasons(&doubts), claim::warnings(&doubts));
        Self { name: name.to_owned(), state, reasons, warnings, doubts, figures }
    }
}

const SCHEMA: &str = "longhaul.tcp.sweep/1";
