//! Reads CSV: a header row that names a metric with its unit, or a lone column of numbers.

use std::io::Read;

use crate::{
    Error, Metric,
    lines::{Line, Lines},
    series::{Column, Tally},
};

mod columns;
mod fields;
mod number;

use columns::{Columns, Unit};
use fields::fields;

/// Reads the rest of a file whose first line is `first`.
pub(crate) fn read<R: Read>(
    first: &Line<'_>,
    mut lines: Lines<R>,
    wanted: Option<Metric>,
) -> Result<Tally, Error> {
    check_text(first, &lines)?;
    let columns = Columns::find(first.text, &lines, wanted)?;
    let has_header = columns.has_header;
    let mut rows = Rows::new(columns);
    if !has_header {
        rows.take(first).map_err(|problem| problem.at(first.number, &lines))?;
    }
    while let Some(line) = lines.next()? {
        let (number, taken) = (line.number, rows.take(&line));
        taken.map_err(|problem| problem.at(number, &lines))?;
    }
    rows.finish(&lines)
}

/// What is wrong with a row; becomes an [`Error`] once the row's place is at hand. Columns count from 1.
enum Problem {
    NotText {
        column: usize,
        byte: u8,
    },
    Number {
        column: usize,
        found: String,
        expected: &'static str,
    },
    Columns {
        column: usize,
        found: usize,
        expected: usize,
    },
    /// An empty line that is not at the end.
    Blank {
        line: u64,
        expected: &'static str,
    },
}

impl Problem {
    fn at<R: Read>(self, line: u64, lines: &Lines<R>) -> Error {
        match self {
            Self::NotText { column, byte } => Error::NotText { place: lines.place(line, column), byte },
            Self::Number { column, found, expected } => {
                Error::Number { place: lines.place(line, column), found, expected }
            }
            Self::Columns { column, found, expected } => {
                Error::Columns { place: lines.place(line, column), found, expected }
            }
            Self::Blank { line, expected } => {
                Error::Number { place: lines.place(line, 1), found: "an empty line".to_owned(), expected }
            }
        }
    }
}

/// Takes rows and keeps what counts of them.
struct Rows {
    columns: Columns,
    column: Column,
    read: u64,
    failed: u64,
    /// The first of the empty lines just passed: fine at the end of the file, an error before it.
    blank: Option<u64>,
    unterminated: bool,
}

impl Rows {
    fn new(columns: Columns) -> Self {
        Self {
            column: Column::new(columns.metric),
            columns,
            read: 0,
            failed: 0,
            blank: None,
            unterminated: false,
        }
    }

    fn take(&mut self, line: &Line<'_>) -> Result<(), Problem> {
        if line.text.is_empty() {
            self.blank.get_or_insert(line.number);
            return Ok(());
        }
        if let Some(line) = self.blank {
            return Err(Problem::Blank { line, expected: self.columns.unit.expected() });
        }
        self.unterminated = !line.terminated;
        self.read += 1;
        if self.columns.count == 1 {
            // The fast path. What is not a number is looked at again, slowly, to say what it is.
            let unit = self.columns.unit;
            let value = number::parse(line.text).filter(|_| line.terminated);
            if let Some(ms) = value.and_then(|value| unit.milliseconds(value)) {
                self.column.push(ms, None);
                return Ok(());
            }
        }
        self.take_fields(line)
    }

    fn take_fields(&mut self, line: &Line<'_>) -> Result<(), Problem> {
        find_binary(line.text).map_or(Ok(()), |(column, byte)| Err(Problem::NotText { column, byte }))?;
        let (mut value, mut started, mut failed, mut count) = (None, None, false, 0);
        for (index, (at, field)) in fields(line.text, self.columns.delimiter).enumerate() {
            count += 1;
            if index == self.columns.count {
                // Counted to the end for the message.
                let found = fields(line.text, self.columns.delimiter).count();
                return Err(Problem::Columns { column: at + 1, found, expected: self.columns.count });
            }
            match self.columns.started {
                _ if index == self.columns.value => {
                    value = cell(field, at, self.columns.unit, line.terminated)?;
                }
                Some((column, unit)) if column == index => {
                    started = cell(field, at, unit, line.terminated)?.map(|ms| ms / 1e3);
                }
                _ if self.columns.error == Some(index) => failed = !field.trim_ascii().is_empty(),
                _ => {}
            }
        }
        if count < self.columns.count {
            let column = line.text.len() + 1;
            return Err(Problem::Columns { column, found: count, expected: self.columns.count });
        }
        match value {
            _ if failed => self.failed += 1,
            Some(value) => self.column.push(value, started),
            None => self.column.without += 1,
        }
        Ok(())
    }

    fn finish<R: Read>(self, lines: &Lines<R>) -> Result<Tally, Error> {
        if self.read == 0 {
            let found = "there is a header row, but no row of numbers".to_owned();
            return Err(Error::Empty {
                place: lines.place(2, 1),
                found,
                expected: self.columns.unit.expected(),
            });
        }
        let mut warnings = self.columns.warnings;
        if self.unterminated {
            warnings.push(
                "The last line has no line end: if the file was cut off, its last value may be wrong."
                    .to_owned(),
            );
        }
        Ok(Tally { read: self.read, failed: self.failed, columns: vec![self.column], warnings })
    }
}

/// The number in a cell, in milliseconds; `None` if the cell is empty, which says that it was not measured.
fn cell(field: &[u8], at: usize, unit: Unit, terminated: bool) -> Result<Option<f64>, Problem> {
    let text = field.trim_ascii();
    if text.is_empty() && terminated {
        return Ok(None);
    }
    // Where a line is cut off, "12." was more than 12.
    let whole = terminated || text.last().is_some_and(u8::is_ascii_digit);
    match number::parse(text).and_then(|value| unit.milliseconds(value)) {
        Some(ms) if whole => Ok(Some(ms)),
        _ => Err(Problem::Number { column: at + 1, found: quoted(field), expected: unit.expected() }),
    }
}

fn check_text<R: Read>(line: &Line<'_>, lines: &Lines<R>) -> Result<(), Error> {
    let Some((column, byte)) = find_binary(line.text) else { return Ok(()) };
    Err(Error::NotText { place: lines.place(line.number, column), byte })
}

/// The first byte that no text has, and its column.
fn find_binary(text: &[u8]) -> Option<(usize, u8)> {
    let nul = memchr::memchr(0, text);
    let invalid = std::str::from_utf8(text).err().map(|error| error.valid_up_to());
    let at = [nul, invalid].into_iter().flatten().min()?;
    Some((at + 1, text[at]))
}

/// A field for a message: quoted, escaped, and cut if it is long.
fn quoted(field: &[u8]) -> String {
    let text = String::from_utf8_lossy(field);
    let short: String = text.chars().take(SHOWN).collect();
    let dots = if short.len() < text.len() { "..." } else { "" };
    format!("{short:?}{dots}")
}

/// How much of a field a message shows.
const SHOWN: usize = 40;

#[cfg(test)]
mod tests;
