//! Reads CSV: a header row that names a metric with its unit, or a single column of numbers. Other
//! columns may contain the start of an event, its page, its failure, its phases, and labels.

use std::{borrow::Cow, collections::BTreeMap, io::Read};

use super::{
    Frame, Input, Options,
    lines::{Line, Lines},
    number, time,
};
use crate::{Error, Event, Metric, Sample, Sink, Unit, unit::nanoseconds};

mod columns;
mod delimiter;
mod fields;
mod units;

pub(super) use fields::Cells;

use columns::{Columns, Role};
use fields::fields;

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let mut lines = Lines::new(input.reader, input.path);
    let mut first = next_row(&mut lines)?;
    let delimiter = first.as_ref().and_then(|(_, text, _)| delimiter::of_line(text));
    if delimiter.is_some() {
        first = next_row(&mut lines)?;
    }
    let (number, text, terminated) = first.unwrap_or((1, Vec::new(), false));
    let first = Line { number, text: &text, terminated };
    check_text(&first, &lines)?;
    let next = lines.peek()?.to_vec();
    let columns = Columns::find(first.text, &next, delimiter, &lines, options)?;
    sink.metric(columns.metric);
    let has_header = columns.has_header;
    let mut rows = Rows::new(columns);
    let mut row = Some(first).filter(|_| !has_header);
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        if row.is_none() && rows.is_of_numbers() {
            let unit = rows.columns.unit;
            let number = lines.number() + 1;
            batch.clear();
            while let Some(ms) = lines.next_number(|value| unit.milliseconds(value)) {
                batch.push(ms);
                if batch.len() == BATCH {
                    break;
                }
            }
            if !batch.is_empty() {
                rows.read += batch.len() as u64;
                sink.values(number, rows.columns.metric, &batch)?;
                continue;
            }
        }
        let line = match row.take() {
            Some(first) => first,
            None => match lines.next()? {
                Some(line) => line,
                None => break,
            },
        };
        let number = line.number;
        match rows.take(&line) {
            Ok(true) => sink.event(&rows.event(number))?,
            Ok(false) => {}
            Err(problem) => return Err(problem.at(number, &lines)),
        }
    }
    rows.finish(&lines)
}

/// Becomes an [`Error`] once the row's position is known. Columns count from 1.
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

/// `sample` and `exact` hold the values of the last row.
struct Rows {
    columns: Columns,
    sample: Sample,
    /// Unrounded metrics of the row, the file's first; without those that are absent.
    exact: Vec<(Metric, f64)>,
    read: u64,
    /// The first of the empty lines just passed: fine only at the end of the file.
    blank: Option<u64>,
    unterminated: bool,
    /// Pages whose ids are not numbers.
    pages: BTreeMap<Vec<u8>, u64>,
}

impl Rows {
    fn new(columns: Columns) -> Self {
        Self {
            columns,
            sample: Sample::default(),
            exact: Vec::new(),
            read: 0,
            blank: None,
            unterminated: false,
            pages: BTreeMap::new(),
        }
    }

    /// Whether the next row may be parsed as a single number, which is faster than [`Rows::take`].
    fn is_of_numbers(&self) -> bool {
        self.columns.roles == [Role::Value] && self.columns.has_units == [false] && self.blank.is_none()
    }

    fn event(&self, number: u64) -> Event<'_> {
        Event { number, sample: &self.sample, exact: &self.exact }
    }

    /// Returns false for an empty line.
    fn take(&mut self, line: &Line<'_>) -> Result<bool, Problem> {
        if line.text.is_empty() {
            self.blank.get_or_insert(line.number);
            return Ok(false);
        }
        if let Some(line) = self.blank {
            return Err(Problem::Blank { line, expected: self.columns.unit.expected() });
        }
        self.unterminated = !line.terminated;
        self.read += 1;
        self.take_fields(line)?;
        Ok(true)
    }

    fn take_fields(&mut self, line: &Line<'_>) -> Result<(), Problem> {
        find_binary(line.text).map_or(Ok(()), |(column, byte)| Err(Problem::NotText { column, byte }))?;
        let (expected, mut count) = (self.columns.roles.len(), 0);
        self.exact.clear();
        self.sample.error = None;
        for (index, (at, field)) in fields(line.text, self.columns.delimiter).enumerate() {
            count += 1;
            if index == expected {
                // Counted to the end for the message.
                let found = fields(line.text, self.columns.delimiter).count();
                return Err(Problem::Columns { column: at + 1, found, expected });
            }
            if field.first() == Some(&b'"') && fields::is_unclosed(&line.text[at..], self.columns.delimiter) {
                let (found, expected) = (UNCLOSED.to_owned(), A_CLOSING_QUOTE);
                return Err(Problem::Number { column: at + 1, found, expected });
            }
            self.take_field(index, field, at, line.terminated)?;
        }
        if count < expected {
            return Err(Problem::Columns { column: line.text.len() + 1, found: count, expected });
        }
        Ok(())
    }

    fn take_field(&mut self, index: usize, field: &[u8], at: usize, whole: bool) -> Result<(), Problem> {
        let Self { columns, sample, exact, pages, .. } = self;
        let number = with_point(field, columns.delimiter);
        let has_unit = columns.has_units.get(index) == Some(&true);
        columns.decide_time(index, &number);
        match &columns.roles[index] {
            Role::Value => {
                let value = cell(&number, at, columns.unit, whole, has_unit)?;
                exact.extend(value.map(|ms| (columns.metric, ms)));
                sample.set(columns.metric, value.map(nanoseconds));
            }
            &Role::Metric(metric, unit) => {
                let value = cell(&number, at, unit, whole, has_unit)?;
                exact.extend(value.map(|ms| (metric, ms)));
                sample.set(metric, value.map(nanoseconds));
            }
            &Role::Started(unit) => sample.started_ns = time(&number, at, unit, whole)?,
            &Role::Intended(unit) => sample.intended_ns = time(&number, at, unit, whole)?,
            Role::Date => {
                sample.started_ns = match text(field) {
                    Some(text) => Some(time::date(&text).ok_or_else(|| Problem::Number {
                        column: at + 1,
                        found: quoted(field),
                        expected: A_DATE,
                    })?),
                    None => None,
                }
            }
            // An empty cell: the next one shows the form.
            Role::Moment { .. } => sample.started_ns = None,
            Role::Error => sample.error = text(field),
            Role::Status => sample.status = text(field).and_then(|text| text.parse().ok()),
            Role::Reused => match text(field).as_deref() {
                Some("reused") => sample.reused = Some(true),
                Some("new") => sample.reused = Some(false),
                other => {
                    sample.reused = None;
                    set_label(sample, "reused", other);
                }
            },
            Role::Bytes => {
                let text = text(field);
                sample.body_bytes = text.as_deref().and_then(|text| text.parse().ok());
                set_label(sample, "body_bytes", text.as_deref().filter(|_| sample.body_bytes.is_none()));
            }
            Role::Page => {
                sample.page = text(field).map(|text| {
                    let next = UNNUMBERED + pages.len() as u64;
                    numbered(&text).unwrap_or_else(|| *pages.entry(text.into_bytes()).or_insert(next))
                });
            }
            Role::Label(name) => set_label(sample, name, text(field).as_deref()),
            Role::None => {}
        }
        Ok(())
    }

    fn finish<R: Read>(self, lines: &Lines<R>) -> Result<Frame, Error> {
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
        Ok(Frame { warnings, ..Frame::default() })
    }
}

impl Columns {
    fn decide_time(&mut self, index: usize, field: &[u8]) {
        let Role::Moment { header, .. } = &self.roles[index] else { return };
        let Some(text) = text(field) else { return };
        if let Some(role) = Role::of_time(&text) {
            self.roles[index] = role;
            return;
        }
        self.warnings.push(format!(
            "The column \"{header}\" has neither dates nor times since 1970: it is not read as the times of start. If it has \
             them, name it started_s, started_ms, started_us or started_ns."
        ));
        self.roles[index].give_up_time();
    }
}

type Row = (u64, Vec<u8>, bool);

fn next_row<R: Read>(lines: &mut Lines<R>) -> Result<Option<Row>, Error> {
    let row = lines.next()?.map(|line| (line.number, line.text.to_vec(), line.terminated));
    Ok(row)
}

fn with_point(field: &[u8], delimiter: u8) -> Cow<'_, [u8]> {
    let text = field.trim_ascii();
    let unit = text.iter().position(|byte| byte.is_ascii_alphabetic() || *byte >= 0x80).unwrap_or(text.len());
    let is_of_number = |byte: &u8| byte.is_ascii_digit() || b", ".contains(byte);
    let commas = memchr::memchr_iter(b',', field).count();
    let is_short = text.len() - unit <= LONGEST_UNIT;
    if delimiter == b',' || commas != 1 || unit == 0 || !is_short || !text[..unit].iter().all(is_of_number) {
        return Cow::Borrowed(field);
    }
    Cow::Owned(field.iter().map(|byte| if *byte == b',' { b'.' } else { *byte }).collect())
}

/// "007" is another page than "7".
fn numbered(text: &str) -> Option<u64> {
    let number = text.parse().ok().filter(|&number: &u64| number < UNNUMBERED)?;
    (number.to_string() == text).then_some(number)
}

/// Without doubled quotes; `None` if it is empty.
fn text(field: &[u8]) -> Option<String> {
    let text = field.trim_ascii();
    (!text.is_empty()).then(|| String::from_utf8_lossy(text).replace("\"\"", "\""))
}

fn set_label(sample: &mut Sample, name: &str, value: Option<&str>) {
    match value {
        Some(value) => drop(sample.labels.insert(name.to_owned(), value.to_owned())),
        None => drop(sample.labels.remove(name)),
    }
}

/// In nanoseconds. Dates have more digits than an f64.
fn time(field: &[u8], at: usize, unit: Unit, terminated: bool) -> Result<Option<u64>, Problem> {
    let rounded = cell(field, at, unit, terminated, false)?.map(nanoseconds);
    Ok(rounded.map(|rounded| number::nanoseconds(field.trim_ascii(), unit).unwrap_or(rounded)))
}

/// In milliseconds; `None` if the cell is empty. A cell may name its unit, and must if others of
/// its column do.
fn cell(
    field: &[u8],
    at: usize,
    unit: Unit,
    terminated: bool,
    has_unit: bool,
) -> Result<Option<f64>, Problem> {
    let text = field.trim_ascii();
    if text.is_empty() && terminated {
        return Ok(None);
    }
    // In a truncated line, "12." was more than 12.
    let whole = terminated || text.last().is_some_and(u8::is_ascii_digit);
    let plain = if has_unit { None } else { number::parse(text) };
    match plain.and_then(|value| unit.milliseconds(value)) {
        Some(ms) if whole => Ok(Some(ms)),
        None if plain.is_none() && terminated && number::with_unit(text).is_some() => {
            Ok(number::with_unit(text))
        }
        _ => {
            let expected = if has_unit { WITH_UNIT } else { unit.expected() };
            Err(Problem::Number { column: at + 1, found: quoted(field), expected })
        }
    }
}

fn check_text<R: Read>(line: &Line<'_>, lines: &Lines<R>) -> Result<(), Error> {
    let Some((column, byte)) = find_binary(line.text) else { return Ok(()) };
    Err(Error::NotText { place: lines.place(line.number, column), byte })
}

fn find_binary(text: &[u8]) -> Option<(usize, u8)> {
    let nul = memchr::memchr(0, text);
    let invalid = std::str::from_utf8(text).err().map(|error| error.valid_up_to());
    let at = [nul, invalid].into_iter().flatten().min()?;
    Some((at + 1, text[at]))
}

/// Quoted, escaped, and cut if it is long.
fn quoted(field: &[u8]) -> String {
    let text = String::from_utf8_lossy(field);
    let short: String = text.chars().take(SHOWN).collect();
    let dots = if short.len() < text.len() { "..." } else { "" };
    format!("{short:?}{dots}")
}

/// "min".
const LONGEST_UNIT: usize = 3;

const WITH_UNIT: &str = "a number with its unit, such as 12.5 ms, as in the rows before";
const A_DATE: &str = "a date such as 2025-03-14T09:26:53Z, as in the rows before";
pub(super) const UNCLOSED: &str = "a double quote that is not closed on its line";
pub(super) const A_CLOSING_QUOTE: &str = "another double quote at the cell's end (a cell ends on its line)";

const BATCH: usize = 4096;

/// For page ids that are not numbers in the file.
const UNNUMBERED: u64 = 1 << 63;

const SHOWN: usize = 40;

#[cfg(test)]
mod tests;
