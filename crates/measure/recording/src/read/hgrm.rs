//! Reads HdrHistogram percentile text, also as CSV and inside the output of wrk2.
//!
//! [`points`] describes what a row means.

use units::show::{latency, relative};

use super::{
    Frame, Input, Options, json,
    lines::{Line, Lines},
};
use crate::{Bucket, Counts, Error, Metric, Sink, Unit, error::counted};

mod points;

use points::Point;

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    sink.metric(Metric::Latency);
    let mut lines = Lines::new(input.reader, input.path);
    let mut table = Table::new(options.unit.unwrap_or(Unit::Ms));
    let mut warnings = Vec::new();
    while let Some(line) = lines.next()? {
        let Line { number, terminated, .. } = line;
        match table.take(line.text, terminated) {
            Ok(()) => {}
            Err(Problem::Cut) => warnings.push(json::cut_off(number)),
            Err(Problem::Row { offset, found, expected }) => {
                return Err(Error::Number { place: lines.place(number, offset + 1), found, expected });
            }
        }
    }
    if table.total == 0 {
        let found = "the table has no row that counts an event".to_owned();
        let place = lines.place(lines.number() + 1, 1);
        return Err(Error::Empty { place, found, expected: A_ROW });
    }
    let (buckets, widest) = points::buckets(&table.points);
    // The width of the histogram's own buckets, of which a row has the upper end.
    let relative_error = widest.max(2.0 / table.sub_buckets).min(Counts::LARGEST_ERROR);
    table.warn((&buckets, relative_error), options, &mut warnings);
    sink.counts(&Counts { buckets, relative_error, ..Counts::default() })?;
    Ok(Frame { warnings, ..Frame::default() })
}

#[derive(Debug)]
enum Problem {
    Row { offset: usize, found: String, expected: &'static str },
    Cut,
}

struct Table {
    unit: Unit,
    state: State,
    /// 1 in a complete table.
    percentile: f64,
    value_ms: f64,
    total: u64,
    /// Only rows that have events.
    points: Vec<Point>,
    mean_ms: Option<f64>,
    footer_total: Option<u64>,
    /// Of the footer. Each power of two has half of them.
    sub_buckets: f64,
    others: u64,
    is_wrk: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Before,
    Rows,
    Footer,
    Other,
}

impl Table {
    fn new(unit: Unit) -> Self {
        Self {
            unit,
            state: State::Before,
            percentile: 0.0,
            value_ms: 0.0,
            total: 0,
            points: Vec::new(),
            mean_ms: None,
            footer_total: None,
            sub_buckets: OF_THREE_DIGITS,
            others: 0,
            is_wrk: false,
        }
    }

    fn take(&mut self, line: &[u8], terminated: bool) -> Result<(), Problem> {
        let text = line.trim_ascii();
        if is_header(text) {
            self.others += u64::from(self.state != State::Before);
            self.state = if self.state == State::Before { State::Rows } else { State::Other };
            return Ok(());
        }
        match self.state {
            State::Before => self.is_wrk |= text.starts_with(b"Latency Distribution (HdrHistogram"),
            State::Rows if text.is_empty() => {}
            State::Rows
                if text.first().is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.')) =>
            {
                match self.row(line) {
                    // Without a footer, text that begins with a number may follow.
                    Err(_) if self.percentile >= 1.0 => self.state = State::Footer,
                    Err(_) if !terminated => return Err(Problem::Cut),
                    result => return result,
                }
            }
            State::Rows | State::Footer => {
                self.state = State::Footer;
                self.footer(text);
            }
            State::Other => {}
        }
        Ok(())
    }

    /// "       1.234     0.500000000000        518           2.00", with commas in CSV.
    fn row(&mut self, line: &[u8]) -> Result<(), Problem> {
        let mut fields = fields(line);
        let mut field = |expected| {
            let (offset, text) = fields.next().ok_or_else(|| Problem::Row {
                offset: line.len(),
                found: "the end of the line".to_owned(),
                expected,
            })?;
            Ok((offset, text))
        };
        let refuse = |(offset, text): (usize, &[u8]), expected| {
            let shown: String = String::from_utf8_lossy(text).chars().take(SHOWN).collect();
            Problem::Row { offset, found: format!("{shown:?}"), expected }
        };
        let value = field(self.unit.expected())?;
        let value_ms = number(value.1).and_then(|value| self.unit.milliseconds(value));
        let value_ms = value_ms.ok_or_else(|| refuse(value, self.unit.expected()))?;
        if value_ms < self.value_ms {
            return Err(refuse(value, "a value no smaller than the row before"));
        }
        let percentile = field(A_PERCENTILE)?;
        let share = number(percentile.1).filter(|share| *share <= 1.0 && *share >= self.percentile);
        let share = share.ok_or_else(|| refuse(percentile, A_PERCENTILE))?;
        let count = field(A_COUNT)?;
        let total = std::str::from_utf8(count.1).ok().and_then(|text| text.parse::<u64>().ok());
        let total = total.filter(|&total| total >= self.total && total <= MOST_EVENTS);
        let total = total.ok_or_else(|| refuse(count, A_COUNT))?;
        if total > self.total {
            self.points.push(Point { value_ms, share, total });
        }
        (self.value_ms, self.total) = (value_ms, total);
        self.percentile = share;
        Ok(())
    }

    /// "#[Mean    =       12.345, StdDeviation   =        1.234]" and the line of the total count.
    fn footer(&mut self, text: &[u8]) {
        if let Some(mean) = value_of(text, b"Mean").and_then(number) {
            self.mean_ms = self.unit.milliseconds(mean);
        }
        if let Some(total) = value_of(text, b"Total count").and_then(|text| std::str::from_utf8(text).ok()) {
            self.footer_total = total.parse().ok();
        }
        let parts = value_of(text, b"SubBuckets").and_then(number).filter(|parts| *parts >= 2.0);
        self.sub_buckets = parts.unwrap_or(self.sub_buckets);
    }

    fn mean_ms(&self, buckets: &[Bucket]) -> f64 {
        let sum: f64 = buckets.iter().map(|bucket| bucket.value_ms * bucket.count as f64).sum();
        sum / self.total as f64
    }

    fn warn(
        &self,
        (buckets, relative_error): (&[Bucket], f64),
        options: &Options,
        warnings: &mut Vec<String>,
    ) {
        if options.unit.is_none() && !self.is_wrk {
            warnings.push("The file does not name its unit; its values are read as milliseconds.".to_owned());
        }
        let mut values: Vec<f64> = self.points.iter().map(|point| point.value_ms).collect();
        values.dedup();
        let points = counted(values.len() as u64, "point");
        let mut known = format!(
            "Only {points} of the distribution {} known: events between two count at the middle, each within {} of its value.",
            if values.len() == 1 { "is" } else { "are" },
            relative(relative_error)
        );
        if let Some(mean) = self.mean_ms {
            let found = self.mean_ms(buckets);
            let deviation = found / mean - 1.0;
            known += &match deviation.is_finite() {
                true => format!(
                    " The mean comes out as {} ms, {} {} the {} ms that the file states.",
                    latency(found),
                    relative(deviation.abs()),
                    if deviation < 0.0 { "below" } else { "above" },
                    latency(mean)
                ),
                false => format!(" The mean comes out as {} ms; the file states 0.", latency(found)),
            };
        }
        warnings.push(known);
        if let Some(total) = self.footer_total.filter(|&total| total != self.total) {
            warnings.push(format!(
                "The footer counts {}, the last row {}: the table is not whole.",
                counted(total, "event"),
                self.total
            ));
        } else if self.percentile < 1.0 {
            warnings.push(format!(
                "The table stops at the percentile {}: the slowest are missing.",
                self.percentile * 100.0
            ));
        }
        if self.others > 0 {
            warnings.push(format!(
                "The file has {} tables of percentiles; only the first is read.",
                self.others + 1
            ));
        }
    }
}

/// `Value Percentile TotalCount 1/(1-Percentile)`, with blanks or as CSV.
fn is_header(line: &[u8]) -> bool {
    let has = |word: &[u8]| memchr::memmem::find(line, word).is_some();
    has(b"Value") && has(b"Percentile") && has(b"1/(1-Percentile)")
}

fn fields(line: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let is_between = |byte: &u8| matches!(byte, b' ' | b'\t' | b',');
    let mut at = 0;
    std::iter::from_fn(move || {
        at += line[at..].iter().position(|byte| !is_between(byte))?;
        let start = at;
        at += line[at..].iter().position(is_between).unwrap_or(line.len() - at);
        Some((start, &line[start..at]))
    })
}

/// The 12.345 in "#[Mean    =       12.345, ...".
fn value_of<'t>(text: &'t [u8], name: &[u8]) -> Option<&'t [u8]> {
    let at = memchr::memmem::find(text.strip_prefix(b"#[")?, name)? + 2;
    let rest = text[at + name.len()..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let end = rest.iter().position(|byte| matches!(byte, b',' | b']' | b' ')).unwrap_or(rest.len());
    Some(&rest[..end])
}

fn number(text: &[u8]) -> Option<f64> {
    let is_of_numbers = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'+' | b'-' | b'e' | b'E');
    let text = std::str::from_utf8(text).ok().filter(|text| text.bytes().all(|byte| is_of_numbers(&byte)))?;
    text.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0)
}

const A_ROW: &str = "a row such as \"1.234 0.500000000000 518 2.00\"";
const A_PERCENTILE: &str = "a percentile from 0 to 1, no smaller than the row before";
const A_COUNT: &str = "a count of events up to 2^53, no smaller than the row before";

/// Counts up to here are exact in f64 too.
const MOST_EVENTS: u64 = 1 << 53;

/// The default of wrk2 and of most ports.
const OF_THREE_DIGITS: f64 = 2048.0;

const SHOWN: usize = 40;

#[cfg(test)]
mod tests;
