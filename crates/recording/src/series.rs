//! One metric of a recording as columns: what comparisons work on.

use std::{fs::File, io::Read, path::Path};

use crate::{
    End, Error, Header, Metric, Place, Sample, csv,
    detect::{EXPECTED, Format, detect},
    error::counted,
    lines::{Line, Lines},
    native,
};

/// One metric of one recording, or of several that were put together by [`Series::append`].
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What a person calls it: the header's label, or the file's name without its extension.
    pub label: String,
    /// What the values are.
    pub metric: Metric,
    /// The values in milliseconds, in the order of the file; at least one. Finite and not negative.
    pub values_ms: Vec<f64>,
    /// When each value's event started, seconds since its recording's start. Absent unless all of them say so.
    pub started_s: Option<Vec<f64>>,
    /// Samples in the file: with a value, failed, or without the metric.
    pub read: u64,
    /// Samples that failed and so have no value.
    pub failed: u64,
    /// Samples that did not fail and carry no such metric.
    pub without_metric: u64,
    /// The first line of a native recording.
    pub header: Option<Header>,
    /// The last line of a native recording that was not cut off.
    pub end: Option<End>,
    /// Why whatever measured may have shaped the values itself, in its own words. Empty when all is well.
    pub invalid: Vec<String>,
    /// What a reader must know before trusting the values, as sentences.
    pub warnings: Vec<String>,
}

/// Reads one metric of a recording; the format is recognised by its content. Without a metric, it is `latency` if there
/// is one, otherwise `ttfb`; in CSV also the only metric that there is.
///
/// # Errors
/// The file cannot be opened or read, is no recording, breaks its format, or has no value of the metric: each with the
/// place and with what was expected there.
pub fn read_series(path: &Path, metric: Option<Metric>) -> Result<Series, Error> {
    let file = File::open(path).map_err(|source| Error::Open { path: path.to_owned(), source })?;
    decode_series(file, path, metric)
}

/// [`read_series`] from anything that can be read; it needs no buffer. `path` stands for it in messages and labels.
///
/// # Errors
/// As [`read_series`].
pub fn decode_series(input: impl Read, path: &Path, metric: Option<Metric>) -> Result<Series, Error> {
    let mut lines = Lines::new(input, path.to_owned());
    let Some(Line { number, text, terminated }) = lines.next()? else {
        let found = "the file is empty".to_owned();
        return Err(Error::Empty { place: lines.place(1, 1), found, expected: EXPECTED });
    };
    let text = text.to_vec();
    match detect(&text) {
        Ok(Format::Native) => from_native(native::Reader::after_first(&text, lines)?, metric),
        Ok(Format::Csv) => {
            let tally = csv::read(&Line { number, text: &text, terminated }, lines, metric)?;
            tally.into_series(path, None, None)
        }
        Err(known) => {
            let found = format!("this is {known}");
            Err(Error::NotARecording { place: lines.place(1, 1), found, expected: EXPECTED })
        }
    }
}

impl Series {
    /// Adds another recording of the same side, from another place or another time. Times stay relative to each one's
    /// own start; label, header and end stay this one's.
    ///
    /// # Errors
    /// The other has another metric; then nothing is added.
    pub fn append(&mut self, other: Self) -> Result<(), Error> {
        if other.metric != self.metric {
            let place = Place { path: other.label.into(), line: 1, column: 1 };
            let expected = format!("{}, as in {}", self.metric, self.label);
            return Err(Error::Metric { place, found: format!("values of {}", other.metric), expected });
        }
        self.values_ms.extend(other.values_ms);
        self.started_s = match (self.started_s.take(), other.started_s) {
            (Some(mut times), Some(more)) => {
                times.extend(more);
                Some(times)
            }
            (None, None) => None,
            _ => {
                self.warnings
                    .push("Only some of the recordings say when samples started; times are left out.".into());
                None
            }
        };
        self.read += other.read;
        self.failed += other.failed;
        self.without_metric += other.without_metric;
        self.invalid.extend(other.invalid);
        self.warnings.extend(other.warnings);
        Ok(())
    }
}

fn from_native<R: Read>(mut reader: native::Reader<R>, metric: Option<Metric>) -> Result<Series, Error> {
    let candidates = metric.map_or_else(|| vec![Metric::Latency, Metric::Ttfb], |metric| vec![metric]);
    let columns = candidates.into_iter().map(Column::new).collect();
    let mut tally = Tally { read: 0, failed: 0, columns, warnings: Vec::new() };
    let mut last = None;
    for sample in &mut reader {
        let sample = sample?;
        tally.count(&sample);
        last = Some(sample);
    }
    let path = reader.lines().path().to_owned();
    if tally.read == 0 {
        let (place, found) = (reader.lines().place(2, 1), "there is a header, but no sample".to_owned());
        return Err(Error::Empty { place, found, expected: "at least one sample" });
    }
    if let (true, Some(last)) = (tally.is_without_values(), last) {
        return Err(no_values(&tally, &last, &path));
    }
    let (header, end, warnings) = reader.into_parts();
    tally.warnings = warnings;
    tally.into_series(&path, Some(header), end)
}

/// None of the samples has the metric; `last` shows what they have.
fn no_values(tally: &Tally, last: &Sample, path: &Path) -> Error {
    let wanted: Vec<&str> = tally.columns.iter().map(|column| column.metric.name()).collect();
    let present: Vec<&str> =
        Metric::ALL.into_iter().filter(|&metric| last.get(metric).is_some()).map(Metric::name).collect();
    let place = Place { path: path.to_owned(), line: tally.read + 1, column: 1 };
    let read = counted(tally.read, "sample");
    let found = match (tally.failed == tally.read, present.is_empty()) {
        (true, _) if tally.read == 1 => format!("{read}, failed"),
        (true, _) => format!("{read}, all failed"),
        (_, true) => format!("{read} without {}", wanted.join(" or ")),
        _ => format!("{read} without {}, the last with {}", wanted.join(" or "), present.join(", ")),
    };
    Error::Metric { place, found, expected: format!("at least one sample with {}", wanted.join(" or ")) }
}

/// What is counted while a file is read.
pub(crate) struct Tally {
    pub read: u64,
    pub failed: u64,
    /// What may become the series, in the order of preference; at least one.
    pub columns: Vec<Column>,
    pub warnings: Vec<String>,
}

impl Tally {
    fn count(&mut self, sample: &Sample) {
        self.read += 1;
        if sample.error.is_some() {
            self.failed += 1;
            return;
        }
        let started = sample.started_ns.map(|nanos| nanos as f64 / 1e9);
        for column in &mut self.columns {
            match sample.get(column.metric) {
                Some(nanos) => column.push(nanos as f64 / 1e6, started),
                None => column.without += 1,
            }
        }
    }

    fn is_without_values(&self) -> bool {
        self.columns.iter().all(|column| column.values_ms.is_empty())
    }

    /// The first column that has values.
    fn into_series(mut self, path: &Path, header: Option<Header>, end: Option<End>) -> Result<Series, Error> {
        let Some(column) = self.columns.into_iter().find(|column| !column.values_ms.is_empty()) else {
            let place = Place { path: path.to_owned(), line: 2, column: 1 };
            let found = format!("{} without a value ({} failed)", counted(self.read, "row"), self.failed);
            return Err(Error::Empty { place, found, expected: "at least one value" });
        };
        let stem = || path.file_stem().map_or_else(|| "recording".into(), std::ffi::OsStr::to_string_lossy);
        let label = header.as_ref().and_then(|header| header.label.clone());
        let (metric, without_metric) = (column.metric, column.without);
        let (values_ms, started_s) = column.finish(&mut self.warnings);
        Ok(Series {
            label: label.unwrap_or_else(|| stem().into_owned()),
            metric,
            values_ms,
            started_s,
            read: self.read,
            failed: self.failed,
            without_metric,
            header,
            invalid: end.as_ref().map(|end| end.invalid.clone()).unwrap_or_default(),
            end,
            warnings: self.warnings,
        })
    }
}

/// The values of one metric so far.
pub(crate) struct Column {
    metric: Metric,
    values_ms: Vec<f64>,
    /// As long as the values, or shorter if some have no time.
    started_s: Vec<f64>,
    pub without: u64,
}

impl Column {
    pub(crate) fn new(metric: Metric) -> Self {
        Self { metric, values_ms: Vec::new(), started_s: Vec::new(), without: 0 }
    }

    pub(crate) fn push(&mut self, value_ms: f64, started_s: Option<f64>) {
        self.values_ms.push(value_ms);
        self.started_s.extend(started_s);
    }

    /// Values, and times if each value has one.
    fn finish(mut self, warnings: &mut Vec<String>) -> (Vec<f64>, Option<Vec<f64>>) {
        let (times, values) = (self.started_s.len(), self.values_ms.len());
        if times < values {
            if times > 0 {
                let missing = values - times;
                let all = counted(values as u64, "sample");
                warnings.push(format!("{missing} of {all} without a start time; times are left out."));
            }
            return (self.values_ms, None);
        }
        let earliest = self.started_s.iter().copied().fold(f64::INFINITY, f64::min);
        if earliest > LONGEST_S {
            warnings.push("Start times are dates; they are counted from the earliest.".to_owned());
            self.started_s.iter_mut().for_each(|time| *time -= earliest);
        }
        (self.values_ms, Some(self.started_s))
    }
}

/// No measurement runs for three years: what starts later counts from 1970, not from the recording's start.
const LONGEST_S: f64 = 1e8;

#[cfg(test)]
mod tests;
