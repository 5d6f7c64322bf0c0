//! Sweeps: measures one TCP connection in many emulated worlds that differ along a few axes.
//!
//! - [`Grid`]: start here. The values along each axis.
//! - [`Plan`]: all cells and runs, each with its scenario. Starts nothing.
//! - [`run`]: measures the runs without a valid result.
//! - [`Sweep`]: the result. [`figures`] and [`csv`] export it, [`table`] prints it on a terminal.

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

/// A grid with its cells and runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    grid: Grid,
    machine: Machine,
    cells: Vec<Parameters>,
    runs: Vec<Run>,
}

impl Plan {
    /// The cells and runs of a grid, if this machine can measure it.
    pub fn new(grid: Grid, machine: Machine) -> Result<Self, Refusal> {
        grid.check(&machine)?;
        let (cells, runs) = (grid.parameters(), grid.runs());
        Ok(Self { grid, machine, cells, runs })
    }

    /// All combinations of parameters; the last axis changes fastest.
    pub fn cells(&self) -> &[Parameters] {
        &self.cells
    }

    /// All runs, in the order in which they start.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }
}
