//! Output of a sweep: web page, CSV file, and terminal table.

use claim::{Caveat, Doubt};
use report::figures::{Column, Figures, Table};
use units::show::{plain, plural};

use self::columns::{FIGURES, PARAMETERS, label, titled};
use crate::result::{Cell, Measurement, State, Sweep};

mod columns;
mod csv;
mod multiples;
mod terminal;

pub use csv::csv;
pub use terminal::table;

/// The charts and the table of a sweep for a web page.
pub fn figures(sweep: &Sweep) -> Figures {
    let cells = &sweep.cells;
    let title = format!("A reader in {}", plural(cells.len() as u64, "world"));
    let mut figures = Figures::new(title, multiples::headline(cells)).table(all_cells(cells));
    for panel in multiples::panels(cells) {
        figures = figures.panel(panel);
    }
    for parameter in PARAMETERS.iter().filter(|parameter| !parameter.varies(cells)) {
        let value = cells.first().map(|cell| parameter.show(&cell.parameters)).unwrap_or_default();
        figures = figures.condition(parameter.name, value);
    }
    figures = figures.condition("kernel", &sweep.kernel).condition("longhaul", &sweep.longhaul);
    for remark in remarks(cells) {
        figures = figures.doubt(remark);
    }
    if cells.iter().all(|cell| !cell.valid) {
        figures = figures.doubt(Doubt::NoValidRun);
    }
    figures
}

fn remarks(cells: &[Cell]) -> Vec<Caveat> {
    let of_run = |cell: &Cell, run: &Measurement| {
        let name = label(cell, cells);
        let state = word(run.state).map_or_else(String::new, |word| format!(", {word}"));
        let remark = |doubt: &Caveat| Caveat {
            sentence: format!("{name}{state}: {}", plain(&doubt.sentence)),
            invalid: false,
            ..doubt.clone()
        };
        run.doubts.iter().map(remark).collect::<Vec<_>>()
    };
    cells.iter().flat_map(|cell| cell.runs.iter().flat_map(move |run| of_run(cell, run))).collect()
}

fn word(state: State) -> Option<&'static str> {
    match state {
        State::Valid => None,
        State::Invalid => Some("INVALID"),
        State::Failed => Some("failed"),
        State::Missing => Some("missing"),
    }
}

fn worth(cell: &Cell) -> String {
    let worst = || cell.runs.iter().find_map(|run| word(run.state));
    if cell.valid { cell.n.to_string() } else { worst().unwrap_or("missing").to_owned() }
}

fn all_cells(cells: &[Cell]) -> Table {
    let parameters: Vec<_> = PARAMETERS.iter().filter(|parameter| parameter.varies(cells)).collect();
    let shown: Vec<_> = FIGURES.iter().filter(|figure| figure.is_known(cells)).collect();
    let columns = parameters
        .iter()
        .map(|parameter| Column::text(parameter.name))
        .chain(shown.iter().map(|figure| Column::number(titled(figure))))
        .chain([Column::number("n")]);
    let mut table = Table::new("All cells", columns).note(
        "Fast: the slowest and the fastest second in which the reader reads as fast as it can. Restart: how long it takes \
         after a slow phase until the network is as fast again. Pause: the longest time in which the reader would have read \
         and there was nothing.",
    );
    for cell in cells {
        let values = parameters.iter().map(|parameter| parameter.show(&cell.parameters));
        let figures = shown.iter().map(|figure| figure.show(cell).unwrap_or_default());
        table = table.row(values.chain(figures).chain([worth(cell)]));
    }
    table
}

#[cfg(test)]
mod tests;
