//! Results as CSV: a header row and a row for each sample. Messages in quotes may span lines.

use std::io::Read;

use super::{NAMES, Samples, Written, Wrong};
use crate::{
    Error, Sink,
    read::{
        Frame, Input, LONGEST_LINE, Options,
        csv::{A_CLOSING_QUOTE, Cells, UNCLOSED},
        json,
        lines::Lines,
    },
};

pub(in crate::read) fn is_header(line: &[u8]) -> bool {
    let cells = delimiter(line).and_then(|delimiter| Cells::of(line, delimiter).ok());
    cells.is_some_and(|cells| {
        ["timeStamp", "elapsed"].iter().all(|name| cells.texts.iter().any(|text| text == name))
    })
}

/// The default order: a time, milliseconds, a label, a status and, further on, whether it is a
/// success.
pub(in crate::read) fn is_row(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    let cells: Vec<&str> = text.split(',').collect();
    let is_number = |cell: &str, digits: std::ops::RangeInclusive<usize>| {
        digits.contains(&cell.len()) && cell.bytes().all(|byte| byte.is_ascii_digit())
    };
    let [time, elapsed, _, _, rest @ ..] = &cells[..] else { return false };
    let is_time = is_number(time, 13..=13) || super::super::time::date(time).is_some();
    is_time && is_number(elapsed, 1..=9) && rest.iter().take(6).any(|cell| ["true", "false"].contains(cell))
}

fn delimiter(header: &[u8]) -> Option<u8> {
    header.iter().copied().find(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
}

pub(in crate::read) fn read(
    input: Input<'_>,
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<Frame, Error> {
    let mut lines = Lines::new(input.reader, input.path);
    let header = lines.next()?.map_or_else(Vec::new, |line| line.text.to_vec());
    let delimiter = delimiter(&header).unwrap_or(b',');
    let names = Cells::of(&header, delimiter).map(|cells| cells.texts).unwrap_or_default();
    let fields: Vec<_> = names
        .iter()
        .map(|name| NAMES.iter().find(|(_, column, _)| column == name).map(|(field, ..)| *field))
        .collect();
    let mut samples = Samples::new(sink, &options.labels);
    let mut warnings = Vec::new();
    while let Some(Row { number, text, is_whole }) = next_row(&mut lines, delimiter)? {
        if text.trim_ascii().is_empty() {
            continue;
        }
        let cells = match Cells::of(&text, delimiter) {
            // Many tools write no line end after the last row.
            Ok(cells) if cells.texts.len() == names.len() => cells,
            _ if !is_whole => {
                warnings.push(json::cut_off(number));
                break;
            }
            Ok(cells) => {
                let place = lines.place(number, text.len() + 1);
                return Err(Error::Columns { place, found: cells.texts.len(), expected: names.len() });
            }
            Err(at) => {
                let (found, expected) = (UNCLOSED.to_owned(), A_CLOSING_QUOTE);
                return Err(Error::Number { place: lines.place(number, at + 1), found, expected });
            }
        };
        let mut written = Written::default();
        for (field, text) in fields.iter().zip(cells.texts) {
            if let Some(field) = field {
                written.set(*field, text);
            }
        }
        if let Err(Wrong { field, found, expected }) = samples.take(number, &written)? {
            let index = fields.iter().position(|other| *other == Some(field)).unwrap_or(0);
            let column = cells.places.get(index).map_or(1, |at| at + 1);
            return Err(Error::Number { place: lines.place(number, column), found, expected });
        }
    }
    samples.finish(warnings, || lines.place(1, 1))
}

struct Row {
    number: u64,
    text: Vec<u8>,
    is_whole: bool,
}

fn next_row<R: Read>(lines: &mut Lines<R>, delimiter: u8) -> Result<Option<Row>, Error> {
    let Some(line) = lines.next()? else { return Ok(None) };
    let mut row = Row { number: line.number, text: line.text.to_vec(), is_whole: line.terminated };
    while Cells::of(&row.text, delimiter).is_err() {
        let Some(line) = lines.next()? else {
            row.is_whole = false;
            break;
        };
        row.text.push(b'\n');
        row.text.extend_from_slice(line.text);
        row.is_whole = line.terminated;
        if row.text.len() > LONGEST_LINE {
            return Err(Error::LineTooLong {
                place: lines.place(row.number, LONGEST_LINE + 1),
                limit: LONGEST_LINE,
            });
        }
    }
    Ok(Some(row))
}
