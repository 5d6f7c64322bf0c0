//! What came of a sweep, as data: what `--json` prints, and tables and charts show.

use claim::{Caveat, Doubt};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Plan, cell::Parameters, figures::Figures, record::Record};

/// What came of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Sweep {
    /// `longhaul.tcp.sweep/1`.
    pub schema: String,
    /// Version of Longhaul that measured.
    pub longhaul: String,
    /// The kernel of both hosts, which is that of the machine.
    pub kernel: String,
    /// Whether every cell was measured as often as it was to be, and always valid.
    pub valid: bool,
    /// How often each cell was to be measured.
    pub repeat: u32,
    /// Every cell, the last parameter changing fastest.
    pub cells: Vec<Cell>,
}

/// A combination of parameters, and what was measured with it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Cell {
    /// What was set.
    pub parameters: Parameters,
    /// Whether its figures are those of valid runs.
    pub valid: bool,
    /// How many runs they are from.
    pub n: usize,
    /// What was measured in the valid runs; if there is none, in those that there are.
    #[serde(flatten)]
    pub figures: Option<Figures>,
    /// The runs, one by one.
    pub runs: Vec<Measurement>,
}

/// One run, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Measurement {
    /// Names its files: `cells/NAME.toml` and `cells/NAME/`.
    pub name: String,
    /// What came of it.
    pub state: State,
    /// Why it is not valid, as sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// What must be known before its figures are believed, as sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Both with a word for each kind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Caveat>,
    /// What it measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub figures: Option<Figures>,
}

/// What came of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// A measurement.
    Valid,
    /// A measurement of which the emulator, or the reader, was the bottleneck, although nothing ran beside it.
    Invalid,
    /// None: a program of it failed.
    Failed,
    /// None yet.
    Missing,
}

/// How a run has ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// With a result.
    Measured(Box<Record>),
    /// Without, and why.
    Failed(String),
    /// Not yet.
    Missing,
}

impl Sweep {
    /// Of a plan whose runs have ended so.
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

    /// How many runs came to this.
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
