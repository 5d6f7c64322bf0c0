//! The few styles that a terminal is shown.

use anstyle::{AnsiColor, Style};

/// A text in a style. The program that prints it removes styles where they are not wanted.
pub fn paint(text: &str, style: Style) -> String {
    format!("{style}{text}{style:#}")
}

/// The terminal's default style.
pub const PLAIN: Style = Style::new();
/// The answer.
pub const BOLD: Style = Style::new().bold();
/// Details.
pub const DIM: Style = Style::new().dimmed();
/// Errors.
pub const RED: Style = AnsiColor::Red.on_default().bold();
/// Success.
pub const GREEN: Style = AnsiColor::Green.on_default();
/// Warnings.
pub const YELLOW: Style = AnsiColor::Yellow.on_default();
/// Names and numbers that lead a line.
pub const CYAN: Style = AnsiColor::Cyan.on_default();
