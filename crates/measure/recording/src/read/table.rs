//! Tables that tools write: a header row with known names, then a row for each event.

use std::io::Read;

use super::{
    Input,
    csv::{A_CLOSING_QUOTE, Cells, UNCLOSED},
    json::{cut_off, length},
    lines::Lines,
};
use crate::{Error, Place, Unit};

/// A table of which `N` columns are read.
pub(super) struct Table<'i, const N: usize> {
    lines: Lines<Box<dyn Read + 'i>>,
    delimiter: u8,
    columns: [Option<usize>; N],
    width: usize,
    pub warnings: Vec<String>,
}

pub(super) struct Row {
    pub number: u64,
    cells: Cells,
}

impl<'i, const N: usize> Table<'i, N> {
    pub fn open(input: Input<'i>, delimiter: u8, names: [&str; N]) -> Result<Self, Error> {
        let mut lines = Lines::new(input.reader, input.path);
        let header = lines.next()?.map_or_else(Vec::new, |line| line.text.to_vec());
        let header = Cells::of(&header, delimiter).map(|cells| cells.texts).unwrap_or_default();
        let columns = names.map(|name| header.iter().position(|text| text.trim() == name));
        Ok(Self { lines, delimiter, columns, width: header.len(), warnings: Vec::new() })
    }

    /// Skips blank rows. A truncated last row is omitted with a warning.
    pub fn next(&mut self) -> Result<Option<Row>, Error> {
        while let Some(line) = self.lines.next()? {
            if line.text.trim_ascii().is_empty() {
                continue;
            }
            let (number, length, is_whole) = (line.number, line.text.len(), line.terminated);
            match Cells::of(line.text, self.delimiter) {
                Ok(cells) if cells.texts.len() == self.width => return Ok(Some(Row { number, cells })),
                _ if !is_whole => self.warnings.push(cut_off(number)),
                Ok(cells) => {
                    let place = self.lines.place(number, length + 1);
                    return Err(Error::Columns { place, found: cells.texts.len(), expected: self.width });
                }
                Err(at) => {
                    let (found, expected) = (UNCLOSED.to_owned(), A_CLOSING_QUOTE);
                    return Err(Error::Number { place: self.lines.place(number, at + 1), found, expected });
                }
            }
        }
        Ok(None)
    }

    /// `None` if the table does not have the column or the cell is empty.
    pub fn text<'r>(&self, row: &'r Row, column: usize) -> Option<&'r str> {
        let text = row.cells.texts[self.columns[column]?].trim();
        (!text.is_empty()).then_some(text)
    }

    /// In nanoseconds.
    pub fn length(&self, row: &Row, column: usize, unit: Unit) -> Result<Option<u64>, Error> {
        let nanoseconds = |text: &str| text.parse().ok().and_then(|value| length(unit, value));
        self.number(row, column, unit.expected(), nanoseconds)
    }

    /// The cell may not be empty.
    pub fn required(&self, row: &Row, column: usize, unit: Unit) -> Result<u64, Error> {
        self.length(row, column, unit)?.ok_or_else(|| Error::Number {
            place: self.place(row, column),
            found: "\"\"".to_owned(),
            expected: unit.expected(),
        })
    }

    /// An error if `parse` returns `None`.
    pub fn number<T>(
        &self,
        row: &Row,
        column: usize,
        expected: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let Some(text) = self.text(row, column) else { return Ok(None) };
        parse(text).map(Some).ok_or_else(|| {
            let shown: String = text.chars().take(SHOWN).collect();
            Error::Number { place: self.place(row, column), found: format!("{shown:?}"), expected }
        })
    }

    pub fn begin(&self) -> Place {
        self.lines.place(1, 1)
    }

    pub fn place(&self, row: &Row, column: usize) -> Place {
        let at = self.columns[column].and_then(|index| row.cells.places.get(index));
        self.lines.place(row.number, at.map_or(1, |at| at + 1))
    }
}

const SHOWN: usize = 40;
