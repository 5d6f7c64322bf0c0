//! Reads HdrHistogram interval logs: a line is an interval with its histogram, compressed and in
//! base64.
//!
//! The grammar and the meaning of the times follow the Java library's `HistogramLogReader`.

use std::io::Read;

use units::show::time;

use super::{
    Frame, Input, Options, json,
    lines::{Line, Lines},
};
use crate::{
    Bucket, Counts, Error, Metric, Sink, Unit,
    histogram::{
        self, Range,
        encoding::{Decoded, Decoder},
    },
};

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    sink.metric(Metric::Latency);
    let mut lines = Lines::new(input.reader, input.path);
    let mut log = Log::new(options.unit);
    let mut warnings = Vec::new();
    while let Some(line) = lines.next()? {
        let Line { number, terminated, .. } = line;
        match log.take(line.text) {
            Ok(Some(counts)) => sink.counts(&counts)?,
            Ok(None) => {}
            Err(_) if !terminated && log.intervals > 0 => {
                warnings.push(json::cut_off(number));
                break;
            }
            Err(problem) => return Err(problem.at(number, &lines)),
        }
    }
    if log.total == 0 {
        let found = match log.intervals {
            0 => "there is no interval",
            _ => "all intervals are empty",
        };
        let place = lines.place(lines.number() + 1, 1);
        return Err(Error::Empty { place, found: found.to_owned(), expected: AN_INTERVAL });
    }
    log.warn(&mut warnings);
    Ok(Frame { warnings, ..Frame::default() })
}

#[derive(Debug)]
pub(crate) struct Problem {
    offset: usize,
    problem: String,
    expected: &'static str,
}

impl Problem {
    fn at<R: Read>(self, line: u64, lines: &Lines<R>) -> Error {
        let place = lines.place(line, self.offset + 1);
        Error::Sample { place, problem: self.problem, expected: self.expected }
    }
}

struct Log {
    unit: Option<Unit>,
    clock: Clock,
    decoder: Decoder,
    intervals: u64,
    total: u64,
    largest: f64,
    is_unit_derived: bool,
    /// Values below this are not distinguished; 0 if the log's unit is fine enough.
    blurred_below: f64,
}

impl Log {
    fn new(unit: Option<Unit>) -> Self {
        Self {
            unit,
            clock: Clock::default(),
            decoder: Decoder::default(),
            intervals: 0,
            total: 0,
            largest: 0.0,
            is_unit_derived: false,
            blurred_below: 0.0,
        }
    }

    /// `None` if the line is no interval.
    fn take(&mut self, line: &[u8]) -> Result<Option<Counts>, Problem> {
        if let Some(comment) = line.strip_prefix(b"#") {
            self.clock.comment(comment);
            if self.unit.is_none() {
                self.unit = unit_in(comment);
            }
            return Ok(None);
        }
        if line.trim_ascii().is_empty() || line.starts_with(b"\"StartTimestamp\"") {
            return Ok(None);
        }
        let mut words = Words { line, at: 0 };
        let tag = match words.line.strip_prefix(b"Tag=") {
            Some(_) => {
                let (_, tag) = words.next("a tag")?;
                Some(String::from_utf8_lossy(&tag["Tag=".len()..]).into_owned())
            }
            None => None,
        };
        let started = words.number("the interval's start in seconds")?;
        let length = words.number("the interval's length in seconds")?;
        let maximum = words.number("the interval's maximum")?;
        let (offset, text) = words.next("a histogram in base64")?;
        let histogram = self.decoder.decode(text).map_err(|(at, problem)| Problem {
            offset: offset + at,
            problem,
            expected: "a histogram of HdrHistogram in base64",
        })?;
        let largest = histogram.counts.last().map(|(last, _)| last.high() as f64 * histogram.ratio);
        let unit = match (self.unit, largest) {
            (Some(unit), _) => unit,
            (None, None) => Unit::Ns,
            (None, Some(largest)) => {
                let unit = derive_unit(largest, maximum).map_err(|problem| Problem {
                    offset,
                    problem,
                    expected: "a unit, as with --unit us",
                })?;
                (self.unit, self.is_unit_derived) = (Some(unit), true);
                unit
            }
        };
        self.largest = self.largest.max(largest.unwrap_or(0.0));
        let buckets = buckets(histogram, unit).ok_or_else(|| Problem {
            offset,
            problem: "the histogram has a value that cannot be a time".to_owned(),
            expected: unit.expected(),
        })?;
        self.intervals += 1;
        let digits = histogram.digits;
        self.note(offset)?;
        Ok(Some(Counts {
            started_s: Some(self.clock.started(started)),
            length_s: Some(length),
            tag,
            buckets,
            relative_error: histogram::relative_error(digits),
        }))
    }

    fn note(&mut self, offset: usize) -> Result<(), Problem> {
        let histogram = self.decoder.histogram();
        let total = histogram.counts.iter().try_fold(self.total, |sum, &(_, count)| sum.checked_add(count));
        self.total = total.filter(|&total| total <= MOST_EVENTS).ok_or(Problem {
            offset,
            problem: "the counts add up to more than 2^53 events".to_owned(),
            expected: "a log of fewer",
        })?;
        let Some((first, _)) = histogram.counts.first() else { return Ok(()) };
        // One unit is as wide as a bucket of the wanted digits only from here on.
        let precise_from = (first.width * histogram.parts / 2) as f64 * histogram.ratio;
        if first.width > 1 && first.low as f64 * histogram.ratio < precise_from && !histogram.is_double {
            self.blurred_below = self.blurred_below.max(precise_from);
        }
        Ok(())
    }

    fn warn(&self, warnings: &mut Vec<String>) {
        let unit = self.unit.unwrap_or(Unit::Ns);
        let shown = |value| unit.milliseconds(value).map(|milliseconds| time(milliseconds / 1e3));
        if self.is_unit_derived {
            let largest = shown(self.largest).unwrap_or_default();
            warnings.push(format!(
                "The log does not name its unit. Its column of maxima is a thousandth of its values, and usually has \
                 milliseconds: the values are read as microseconds (the largest is {largest}); give the unit if it is another."
            ));
        }
        if let Some(below) = Some(self.blurred_below).filter(|&below| below > 0.0)
            && let Some(below) = shown(below)
        {
            warnings.push(format!(
                "The log was kept in units coarser than its digits: below {below}, values are less precise than stated."
            ));
        }
    }
}

/// Timestamps in a log are absolute or relative to its start, and the log does not specify which.
#[derive(Default)]
struct Clock {
    /// `#[StartTime: ...]`, or the first timestamp; seconds since 1970 if it is a date.
    start: Option<f64>,
    /// `#[BaseTime: ...]`, what timestamps count from.
    base: Option<f64>,
}

impl Clock {
    /// Without its "#".
    fn comment(&mut self, comment: &[u8]) {
        let time = |name: &str| {
            let rest = comment.strip_prefix(b"[")?.strip_prefix(name.as_bytes())?.strip_prefix(b": ")?;
            let end = rest.iter().position(|byte| matches!(byte, b' ' | b',' | b']')).unwrap_or(rest.len());
            number(&rest[..end])
        };
        if let Some(start) = time("StartTime") {
            self.start = Some(start);
        } else if let Some(base) = time("BaseTime") {
            self.base = Some(base);
        }
    }

    /// Since 1970, or since the log's start if the log has no date.
    fn started(&mut self, timestamp: f64) -> f64 {
        let start = *self.start.get_or_insert(timestamp);
        // As the Java library: more than a year before the start cannot be absolute.
        let is_absolute = timestamp >= start - YEAR_S;
        let base = *self.base.get_or_insert(if is_absolute { 0.0 } else { start });
        let absolute = timestamp + base;
        if absolute > EPOCH_S { absolute } else { absolute - start }
    }
}

struct Words<'l> {
    line: &'l [u8],
    at: usize,
}

impl<'l> Words<'l> {
    fn next(&mut self, expected: &'static str) -> Result<(usize, &'l [u8]), Problem> {
        let is_between = |byte: &u8| matches!(byte, b',' | b' ' | b'\t');
        let rest = &self.line[self.at..];
        let Some(skipped) = rest.iter().position(|byte| !is_between(byte)) else {
            let problem = "the line ends".to_owned();
            return Err(Problem { offset: self.line.len(), problem, expected });
        };
        let (start, rest) = (self.at + skipped, &rest[skipped..]);
        let word = &rest[..rest.iter().position(is_between).unwrap_or(rest.len())];
        self.at = start + word.len();
        Ok((start, word))
    }

    fn number(&mut self, expected: &'static str) -> Result<f64, Problem> {
        let (offset, word) = self.next(expected)?;
        number(word).ok_or_else(|| {
            let shown: String = String::from_utf8_lossy(word).chars().take(SHOWN).collect();
            Problem { offset, problem: format!("found {shown:?}"), expected }
        })
    }
}

fn number(text: &[u8]) -> Option<f64> {
    let is_of_numbers = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'+' | b'-' | b'e' | b'E');
    let text = std::str::from_utf8(text).ok().filter(|text| text.bytes().all(|byte| is_of_numbers(&byte)))?;
    text.parse().ok().filter(|value: &f64| (0.0..=1e12).contains(value))
}

/// At the middles; `None` if a value is too large for any time.
fn buckets(histogram: &Decoded, unit: Unit) -> Option<Vec<Bucket>> {
    let bucket = |&(range, count): &(Range, u64)| {
        let ms = |value: f64| unit.milliseconds(value * histogram.ratio);
        let low_ms = ms(range.low as f64)?;
        if histogram.is_double {
            // Decimals may be anywhere in a bucket, not only at whole numbers.
            return Some(Bucket::between(low_ms, ms((range.low + range.width) as f64)?, count));
        }
        Some(Bucket { value_ms: ms(range.middle())?, low_ms, high_ms: ms(range.high() as f64)?, count })
    };
    histogram.counts.iter().map(bucket).collect()
}

/// As in logs of this program: `#[Unit: ns]`.
fn unit_in(comment: &[u8]) -> Option<Unit> {
    let name = comment.strip_prefix(b"[Unit: ")?.strip_suffix(b"]")?;
    std::str::from_utf8(name).ok()?.parse().ok()
}

/// Only maxima that were scaled to milliseconds on purpose prove a unit: unconfigured writers
/// divide by a million, whatever the unit is.
fn derive_unit(largest: f64, written: f64) -> Result<Unit, String> {
    if ratio(largest, written) == Some(1000) {
        return Ok(Unit::Us);
    }
    let shown = |unit: Unit| unit.milliseconds(largest).map(|milliseconds| time(milliseconds / 1e3));
    let units = [("ns", Unit::Ns), ("us", Unit::Us), ("ms", Unit::Ms)];
    let shown: Vec<_> =
        units.iter().filter_map(|(name, unit)| Some(format!("{} in {name}", shown(*unit)?))).collect();
    Err(format!(
        "the log does not name the unit of its values: the largest of this interval would be {}",
        shown.join(", ")
    ))
}

/// A power of 1000, if one fits.
fn ratio(largest: f64, written: f64) -> Option<u64> {
    let explains = |ratio: u64| {
        let expected = largest / ratio as f64;
        (expected - written).abs() <= 0.001 + expected * 0.07
    };
    let ratios = [1, 1_000, 1_000_000, 1_000_000_000];
    ratios.into_iter().find(|&ratio| written > 0.001 && explains(ratio))
}

/// Counts up to this are exact in f64.
const MOST_EVENTS: u64 = 1 << 53;

const YEAR_S: f64 = 365.0 * 24.0 * 3600.0;

/// Seconds above this count from 1970.
const EPOCH_S: f64 = 1e8;

const AN_INTERVAL: &str = "at least one interval with a value, such as 0.127,1.007,2.769,HISTFAAAA...";

const SHOWN: usize = 40;

#[cfg(test)]
mod tests;
