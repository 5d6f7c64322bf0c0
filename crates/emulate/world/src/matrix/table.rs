//! Parses the two CSV formats of round-trip times, with line and column of each error.

use std::{ops::Range, time::Duration};

use config_file::{Diagnostic, Document};

use super::Directed;
use crate::geography::Place;

pub(super) fn read(document: &Document, matrix: &mut Directed<'_>) -> Result<(), Diagnostic> {
    let text = document.text();
    let mut rows = rows(text);
    let header =
        rows.next().ok_or_else(|| document.mistake(0..0, format!("the matrix is empty; {SHAPES}")))?;
    if header.iter().map(|cell| cell.text.to_ascii_lowercase()).eq(LONG) {
        for row in rows {
            read_pair(&row, matrix).map_err(|(span, message)| document.mistake(span, message))?;
        }
        return Ok(());
    }
    read_wide(&header, rows, matrix).map_err(|(span, message)| document.mistake(span, message))
}

fn read_pair(row: &[Cell<'_>], matrix: &mut Directed<'_>) -> Result<(), Wrong> {
    let [from, to, rtt] = row else {
        let span = row.first().map_or(0..0, |cell| cell.span.clone());
        return Err((span, format!("a row of {} cells; expected from,to,rtt_ms", row.len())));
    };
    let at = |cell: &Cell<'_>, message| (cell.span.clone(), message);
    let from_city = matrix.known.find(from.text).map_err(|message| at(from, message))?;
    let to_city = matrix.known.find(to.text).map_err(|message| at(to, message))?;
    let Some(trip) = rtt.trip()? else { return Ok(()) };
    matrix.add_known(from_city, to_city, trip).map_err(|message| at(rtt, message))
}

fn read_wide<'t>(
    header: &[Cell<'t>],
    rows: impl Iterator<Item = Vec<Cell<'t>>>,
    matrix: &mut Directed<'_>,
) -> Result<(), Wrong> {
    let known = matrix.known;
    let city = |cell: &Cell<'_>| known.find(cell.text).map_err(|message| (cell.span.clone(), message));
    let columns: Vec<(&str, Place)> = header[1..]
        .iter()
        .map(city)
        .collect::<Result<_, _>>()
        .map_err(|(span, message)| (span, format!("{message} ({SHAPES})")))?;
    for row in rows {
        let from = city(&row[0])?;
        if row.len() != header.len() {
            let message = format!("a row of {} cells, but the first has {}", row.len(), header.len());
            return Err((row[0].span.clone(), message));
        }
        for (cell, to) in row[1..].iter().zip(&columns) {
            if let Some(trip) = cell.trip()? {
                matrix.add_known(from, *to, trip).map_err(|message| (cell.span.clone(), message))?;
            }
        }
    }
    Ok(())
}

type Wrong = (Range<usize>, String);

struct Cell<'t> {
    text: &'t str,
    span: Range<usize>,
}

impl Cell<'_> {
    fn trip(&self) -> Result<Option<Duration>, Wrong> {
        if self.text.is_empty() {
            return Ok(None);
        }
        let wrong = || {
            let message =
                format!("\"{}\" is not a round trip; expected milliseconds such as 71.5", self.text);
            (self.span.clone(), message)
        };
        let ms: f64 = self.text.parse().map_err(|_| wrong())?;
        Duration::try_from_secs_f64(ms / 1000.0).map(Some).map_err(|_| wrong())
    }
}

/// Names and numbers contain no comma, so a comma always ends a cell.
fn rows(text: &str) -> impl Iterator<Item = Vec<Cell<'_>>> {
    let start = text.len() - text.trim_start_matches('\u{feff}').len();
    let mut next = start;
    text[start..].split_inclusive('\n').filter_map(move |line| {
        let at = next;
        next += line.len();
        let line = line.trim_end_matches(['\r', '\n']);
        (!line.trim().is_empty() && !line.starts_with('#')).then(|| cells(line, at))
    })
}

fn cells(line: &str, mut at: usize) -> Vec<Cell<'_>> {
    let cell = |raw| {
        let text = str::trim(raw);
        let start = at + (raw.len() - raw.trim_start().len());
        at += raw.len() + 1;
        Cell { text: text.trim_matches('"').trim(), span: start..start + text.len() }
    };
    line.split(',').map(cell).collect()
}

const LONG: [&str; 3] = ["from", "to", "rtt_ms"];

const SHAPES: &str = "expected the columns from,to,rtt_ms, or cities in the first row and the first column";
