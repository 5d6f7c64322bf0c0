//! Sweeps: one TCP connection with a reader of a chosen kind, measured in many worlds that differ along a few axes.
//!
//! - [`Grid`]: start here. The values along each axis, from a file or from flags, and whether this machine can measure them.
//! - [`Plan`]: every cell and every run of it, each a scenario of its own. Starts nothing.
//! - [`run`]: measures what has no valid result yet, side by side where the machine bears it.
//! - [`Sweep`]: what came of it. [`figures`] and [`csv`] show it, [`table`] on a terminal.
//!
//! Inside: `cell` writes a scenario, `schedule` decides what runs beside what, `store` keeps results and `record` says which of
//! them still count.

mod cell;
mod figures;
mod file;
mod grid;
mod machine;
mod reader;
mod record;
mod result;
mod run;
mod schedule;
mod setting;
mod show;
mod store;

pub use cell::{Parameters, Run};
pub use figures::Figures;
pub use grid::{Grid, Refusal};
pub use machine::Machine;
pub use reader::Reader;
pub use result::{Cell, Measurement, State, Sweep};
pub use run::{Options, Preview, Progress, preview, run};
pub use schedule::Jobs;
pub use setting::{Setting, Size};
pub use show::{csv, figures, table};
pub use store::replace;

/// What a sweep measures.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    grid: Grid,
    machine: Machine,
    cells: Vec<Parameters>,
    runs: Vec<Run>,
}

impl Plan {
    /// Everything that a grid spans, if this machine can measure it.
    pub fn new(grid: Grid, machine: Machine) -> Result<Self, Refusal> {
        grid.check(&machine)?;
        let (cells, runs) = (grid.parameters(), grid.runs());
        Ok(Self { grid, machine, cells, runs })
    }

    /// Every combination of parameters, the last one changing fastest.
    pub fn cells(&self) -> &[Parameters] {
        &self.cells
    }

    /// All measurements, in the order in which they begin.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }
}
