//! A sweep on a terminal: one row per cell, and remarks about single cells below.

use std::fmt::Write;

use report::terminal::{
    look::{BOLD, YELLOW, paint},
    table,
};

use super::{
    columns::{FIGURES, Figure, PARAMETERS},
    remarks, worth,
};
use crate::{Cell, Sweep};

/// Parameters shared by all cells are above the table; figures that are 0 in all cells are below
/// it.
pub fn table(sweep: &Sweep) -> String {
    let cells = &sweep.cells;
    let parameters: Vec<_> = PARAMETERS.iter().filter(|one| one.varies(cells)).collect();
    let known = FIGURES.iter().filter(|figure| figure.is_known(cells));
    let (none, figures): (Vec<_>, Vec<_>) = known.partition(|figure| figure.is_none(cells));
    let names = parameters.iter().map(|one| one.name).chain(figures.iter().map(|figure| figure.name));
    let row = |cell: &Cell| {
        let values = parameters.iter().map(|one| one.show(&cell.parameters));
        let figures = figures.iter().map(|figure| figure.show(cell).unwrap_or_else(|| "-".to_owned()));
        values.chain(figures).chain([worth(cell)]).collect::<Vec<_>>()
    };
    let table = table::table(names.chain(["n"]).map(str::to_owned), cells.iter().map(row));
    let mut text = format!("{}\n\n{table}{}\n", paint(&heading(sweep), BOLD), units(&figures));
    if !none.is_empty() {
        let names: Vec<_> = none.iter().map(|figure| figure.name).collect();
        let _ = writeln!(text, "0 in all of them: {}", names.join(", "));
    }
    let remarks = remarks(cells);
    for remark in remarks.iter().take(MOST_REMARKS) {
        let _ = writeln!(text, "{}: {}", paint("note", YELLOW), remark.sentence);
    }
    if remarks.len() > MOST_REMARKS {
        let _ = writeln!(text, "and {} more in sweep.json", remarks.len() - MOST_REMARKS);
    }
    text
}

fn heading(sweep: &Sweep) -> String {
    let cells = &sweep.cells;
    let common = PARAMETERS.iter().filter(|one| !one.varies(cells));
    let set = common.filter_map(|one| Some((one.name, one.show(&cells.first()?.parameters))));
    let set: Vec<_> =
        set.filter(|(_, value)| value != DEFAULT).map(|(name, value)| format!("{name} {value}")).collect();
    let kernel = format!("Linux {}", sweep.kernel);
    if set.is_empty() { kernel } else { format!("{}; {kernel}", set.join(", ")) }
}

fn units(figures: &[&Figure]) -> String {
    let with_unit: Vec<_> = figures.iter().filter(|figure| !figure.unit.is_empty()).collect();
    let groups = with_unit.chunk_by(|one, other| one.unit == other.unit).map(|group| {
        let names: Vec<_> = group.iter().map(|figure| figure.name).collect();
        format!("{} in {}", names.join(", "), group[0].unit)
    });
    groups.collect::<Vec<_>>().join("; ")
}

/// More remarks would scroll the table off the screen.
const MOST_REMARKS: usize = 10;

const DEFAULT: &str = "default";
