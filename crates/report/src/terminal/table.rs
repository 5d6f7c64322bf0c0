//! How a table looks: a line below the header, the first column to the left, numbers to the right.

use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

/// A table from its header and rows, without trailing blanks, ending in a newline.
pub(super) fn table<Row: IntoIterator<Item = String>>(
    header: impl IntoIterator<Item = String>,
    rows: impl IntoIterator<Item = Row>,
) -> String {
    let mut table = Table::new();
    let line_below_header = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));
    table
        .load_style(line_below_header)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header)
        .add_rows(rows);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    format!("{}\n", table.trim_fmt())
}

pub(super) fn paint(text: &str, style: Style) -> String {
    format!("{style}{text}{style:#}")
}

pub(super) const BOLD: Style = Style::new().bold();
pub(super) const RED: Style = AnsiColor::Red.on_default().bold();
pub(super) const GREEN: Style = AnsiColor::Green.on_default();
pub(super) const YELLOW: Style = AnsiColor::Yellow.on_default();
