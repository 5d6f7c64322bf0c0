//! The common part of the JSON decoders: lines, streamed documents, and errors with positions.

use std::{io::Read, path::Path};

use bounded::Cuts;

use super::{
    Input,
    lines::{Line, Lines},
};
use crate::{Error, Place};

mod bounded;
mod fields;
mod stream;
#[cfg(test)]
pub(super) mod testing;
mod whole;

pub(super) use fields::{Loose, Moment, Seconds, Text, between, host, integer, label, length, status};
pub(super) use stream::{Document, Elements, Taker, each_object};
pub(super) use whole::whole;

pub(super) enum Stop {
    Json(serde_json::Error),
    Refused(Error),
}

impl From<serde_json::Error> for Stop {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(error)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// Blank lines are skipped. A last line without a line end that is truncated is omitted, and the
/// result reports that.
pub(super) fn each_line(
    input: Input<'_>,
    expected: &'static str,
    mut take: impl FnMut(Line<'_>) -> Result<(), Stop>,
) -> Result<Option<String>, Error> {
    let mut lines = Lines::new(input.reader, input.path);
    while let Some(line) = lines.next()? {
        if line.text.trim_ascii().is_empty() {
            continue;
        }
        let (number, terminated) = (line.number, line.terminated);
        match take(line) {
            Ok(()) => {}
            Err(Stop::Json(error)) if error.is_eof() && !terminated => return Ok(Some(cut_off(number))),
            Err(Stop::Json(error)) => return Err(broken(&lines, number, &error, expected)),
            Err(Stop::Refused(error)) => return Err(error),
        }
    }
    Ok(None)
}

pub(super) fn cut_off(line: u64) -> String {
    format!("Line {line}, the last, is cut off in mid-write; read up to the line before it.")
}

pub(super) fn broken<R: Read>(
    lines: &Lines<R>,
    number: u64,
    error: &serde_json::Error,
    expected: &'static str,
) -> Error {
    Error::Sample { place: lines.place(number, error.column()), problem: problem(error), expected }
}

fn broken_document(path: &Path, error: serde_json::Error, cuts: &Cuts, expected: &'static str) -> Error {
    // Errors of the reader have no position.
    let (line, column) = (error.line().max(1) as u64, error.column().max(1) as u64);
    let place = Place { path: path.to_owned(), line, column: cuts.column(line, column) };
    if error.is_io() {
        return Error::Read { place, source: error.into() };
    }
    let problem = match cuts.is_too_deep && error.is_syntax() {
        true => "brackets within brackets within brackets, a thousand deep".to_owned(),
        false => problem(&error),
    };
    Error::Sample { place, problem, expected }
}

/// Without serde_json's own position, and without the whole of a long text that it quotes.
pub(super) fn problem(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(problem, _)| problem);
    if text.len() <= LONGEST_QUOTED {
        return text.to_owned();
    }
    let begin: String = text.chars().take(LONGEST_QUOTED / 4).collect();
    let end = text.rfind(", expected ").filter(|at| text.len() - at <= LONGEST_QUOTED).unwrap_or(text.len());
    format!("{begin}...{}", &text[end..])
}

const LONGEST_QUOTED: usize = 400;
