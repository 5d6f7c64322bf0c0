//! A sweep: a row for each cell, and below them what is to be known about single ones.

use std::fmt::Write;

use scenario::sweep::Sweep;

use super::table::{BOLD, YELLOW, paint, table};
use crate::sweep::{
    columns::{FIGURES, PARAMETERS},
    remarks, worth,
};

/// The table of a sweep. What all cells have in common stands above it, and a column that no cell has a value for is left out.
pub fn sweep(sweep: &Sweep) -> String {
    let cells = &sweep.cells;
    let (varied, common): (Vec<_>, Vec<_>) = PARAMETERS.iter().partition(|one| one.varies(cells));
    let figures: Vec<_> = FIGURES.iter().filter(|figure| figure.is_known(cells)).collect();
    let mut text = String::new();
    if let Some(first) = cells.first() {
        let common: Vec<_> =
            common.iter().map(|one| format!("{} {}", one.name, one.show(&first.parameters))).collect();
        let _ =
            writeln!(text, "{}\n", paint(&format!("{}; Linux {}", common.join(", "), sweep.kernel), BOLD));
    }
    let names = varied.iter().map(|one| one.name).chain(figures.iter().map(|figure| figure.name));
    let rows = cells.iter().map(|cell| {
        let values = varied.iter().map(|one| one.show(&cell.parameters));
        let values =
            values.chain(figures.iter().map(|figure| figure.show(cell).unwrap_or_else(|| "-".to_owned())));
        values.chain([worth(cell)]).collect::<Vec<_>>()
    });
    text += &table(names.chain(["n"]).map(str::to_owned), rows);
    let mut units: Vec<(&str, Vec<&str>)> = Vec::new();
    for figure in figures.iter().filter(|figure| !figure.unit.is_empty()) {
        match units.iter_mut().find(|(unit, _)| *unit == figure.unit) {
            Some((_, names)) => names.push(figure.name),
            None => units.push((figure.unit, vec![figure.name])),
        }
    }
    let units: Vec<_> = units.iter().map(|(unit, names)| format!("{} in {unit}", names.join(", "))).collect();
    let _ = writeln!(text, "{}", units.join("; "));
    for remark in remarks(cells) {
        let _ = writeln!(text, "{}: {remark}", paint("note", YELLOW));
    }
    text
}
