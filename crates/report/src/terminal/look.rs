//! The look of text on a terminal: tables with a line below the header, first column to the left, numbers to the
//! right; and the few styles.

use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

/// A table from its header and rows, without trailing blanks, ending in a newline.
pub fn table<Row: IntoIterator<Item = String>>(
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

/// A text in a style. The caller removes styles where they are not wanted.
pub fn paint(text: &str, style: Style) -> String {
    format!("{style}{text}{style:#}")
}

/// The answer.
pub const BOLD: Style = Style::new().bold();
/// Errors.
pub const RED: Style = AnsiColor::Red.on_default().bold();
/// Success.
pub const GREEN: Style = AnsiColor::Green.on_default();
/// Warnings.
pub const YELLOW: Style = AnsiColor::Yellow.on_default();
