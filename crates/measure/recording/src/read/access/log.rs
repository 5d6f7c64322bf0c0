//! Reads the lines of any access log. Lines that do not match the format are left out and counted:
//! logs contain messages, lines of older formats, and interleaved lines.

use std::collections::BTreeSet;

use super::{Parser, Problem, Taken, fields::Fields, mapping};
use crate::{
    Error, Event, Sink,
    error::counted,
    read::{
        Frame, Input, Options, json,
        lines::{Line, Lines},
    },
};

pub(super) fn read(
    input: Input<'_>,
    options: &Options,
    sink: &mut dyn Sink,
    parser: &mut dyn Parser,
    expected: &'static str,
) -> Result<Frame, Error> {
    let mut lines = Lines::new(input.reader, input.path);
    if let Some(names) = parser.names().filter(|names| !names.is_empty()) {
        check_columns(options, &names, &lines)?;
    }
    let mut found = Fields::new(options);
    let (mut events, mut others) = (0_u64, 0_u64);
    let (mut wrong, mut cut) = (Wrong::default(), None);
    while let Some(line) = lines.next()? {
        let Line { number, terminated, text } = line;
        if text.trim_ascii().is_empty() {
            continue;
        }
        let is_comment = text.starts_with(b"#");
        found.clear();
        match parser.take(text, &mut found) {
            Ok(Taken::Request) => {
                events += 1;
                for (offset, whole) in found.plain.drain(..) {
                    found.seconds.look(&whole, || lines.place(number, offset + 1));
                }
                found.finish();
                sink.event(&Event { number, sample: &found.sample, exact: &found.exact })?;
            }
            Ok(Taken::Other) => others += 1,
            Ok(Taken::Header) => {}
            Ok(Taken::Unreadable(problem)) => {
                let wrong = Wrong { count: 1, first: Some((number, problem)) };
                return Err(wrong.into_error(&lines));
            }
            Err(_) if is_comment => {}
            Err(_) if !terminated && events > 0 => cut = Some(json::cut_off(number)),
            Err(problem) => {
                wrong.add(number, problem);
                if events == 0 && wrong.count >= ENOUGH {
                    break;
                }
            }
        }
    }
    if wrong.count > events {
        return Err(wrong.into_error(&lines));
    }
    if let Some(names) = parser.names() {
        check_columns(options, &names, &lines)?;
    }
    if events == 0 {
        let found = if others > 0 { "no line is about a request" } else { "there is no line" };
        return Err(Error::Empty { place: lines.place(1, 1), found: found.to_owned(), expected });
    }
    let mut warnings: Vec<_> = cut.into_iter().collect();
    warnings.extend(wrong.warning());
    let (whole_seconds, fractions) = (found.whole_seconds, found.fractions);
    warnings.extend(parser.warnings(&found));
    let resolution_ns = found.resolution_ns;
    warnings.extend(found.seconds.finish()?);
    warnings.push(SERVERS_OWN.to_owned());
    if whole_seconds > 0 && fractions == 0 {
        warnings.push("The durations are whole seconds: shorter differences cannot be seen.".to_owned());
    }
    if resolution_ns >= 1_000_000_000 {
        warnings
            .push("The log's times are in whole seconds; percentiles over time cannot be finer.".to_owned());
    }
    if others > 0 {
        warnings.push(format!("{} without a request left out.", counted(others, "line")));
    }
    Ok(Frame { warnings, ..Frame::default() })
}

fn check_columns<R: std::io::Read>(
    options: &Options,
    names: &BTreeSet<String>,
    lines: &Lines<R>,
) -> Result<(), Error> {
    match mapping::refused(&options.columns, names) {
        Some(Problem { offset, found, expected }) => {
            Err(Error::Metric { place: lines.place(1, offset + 1), found, expected })
        }
        None => Ok(()),
    }
}

#[derive(Default)]
struct Wrong {
    count: u64,
    first: Option<(u64, Problem)>,
}

impl Wrong {
    fn add(&mut self, number: u64, problem: Problem) {
        self.count += 1;
        self.first.get_or_insert((number, problem));
    }

    fn warning(&self) -> Option<String> {
        let (number, Problem { offset, found, expected }) = self.first.as_ref()?;
        let (count, column) = (counted(self.count, "line"), offset + 1);
        let (is, which) = match self.count {
            1 => ("is", "it is"),
            _ => ("are", "the first is"),
        };
        Some(format!(
            "{count} {is} left out; {which} line {number}, column {column}: found {found}; expected {expected}."
        ))
    }

    fn into_error<R: std::io::Read>(self, lines: &Lines<R>) -> Error {
        let (number, Problem { offset, found, expected }) = self.first.unwrap_or_default();
        Error::Metric { place: lines.place(number, offset + 1), found, expected }
    }
}

pub(super) const SERVERS_OWN: &str =
    "The times are the server's own: without the handshakes, and without the network to the client.";

/// A file whose first lines all deviate has another format.
const ENOUGH: u64 = 1000;
