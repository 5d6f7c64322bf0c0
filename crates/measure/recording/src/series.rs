//! One metric of a recording as columns: what comparisons work on.

use std::{io::Read, path::Path};

use claim::Doubt;
use statistics::Distribution;

use crate::{Bucket, End, Error, Header, Metric, Place, Sample, read::Format};

mod beside;
mod build;
mod clock;
mod groups;
mod parts;
mod period;
mod wanted;
mod watched;

use build::Builder;
pub use groups::{Groups, NO_GROUP};
pub use parts::Part;
pub use period::Moment;
pub use wanted::Wanted;
use watched::Watched;

/// One metric of one recording, or of several combined by [`Series::append`].
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The name for display: the header's label, or the file's name without its extension.
    pub label: String,
    /// Which format it was read from.
    pub format: Format,
    /// The metric of the values.
    pub metric: Metric,
    /// The values; at least one, unless the series was restricted to a part of its time.
    pub values: Values,
    /// Start of each event, seconds since its recording's start. Absent unless all have a time.
    pub started_s: Option<Vec<f64>>,
    /// The recording's start, seconds since 1970, if known.
    pub start_unix_s: Option<f64>,
    /// The page view of each value, or [`NO_GROUP`]. Absent if no value has one.
    pub pages: Option<Vec<u32>>,
    /// The requested label of each value. Absent if no sample has the label.
    pub groups: Option<Groups>,
    /// The phases of each value, in the order of [`Metric::PHASES`], ms; NaN for a phase that did
    /// not happen. Absent if the recording has no phases.
    pub phases: Option<[Vec<f32>; Metric::PHASES.len()]>,
    /// The part of each value that an emulator may have caused, ms. Absent unless known for all.
    pub own_errors_ms: Option<Vec<f64>>,
    /// Counted values by interval and tag, if all values are counted and the file has them.
    pub parts: Option<Vec<Part>>,
    /// Samples in the file: with a value, failed, without the metric, or excluded.
    pub read: u64,
    /// Samples that failed and so have no value.
    pub failed: u64,
    /// Samples that did not fail and carry no such metric.
    pub without_metric: u64,
    /// Samples outside the requested period.
    pub excluded: u64,
    /// Values of which a phase was taken out.
    pub taken_out: u64,
    /// The failed samples, in the order of the file. Empty for a histogram.
    pub failures: Vec<Failure>,
    without_s: Vec<f64>,
    /// The first line of a native recording.
    pub header: Option<Header>,
    /// The last line of a native recording that was not cut off.
    pub end: Option<End>,
    /// Recorded reasons why the recording may be invalid ([`Doubt::Recorded`]), and warnings of the
    /// reader ([`Doubt::Noticed`]).
    pub doubts: Vec<Doubt>,
}

/// A sample that failed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Failure {
    /// When it started, seconds since its recording's start. Absent if unknown.
    pub started_s: Option<f64>,
    /// Its page view as in [`Series::pages`], or [`NO_GROUP`].
    pub page: u32,
}

/// The values of a series.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Milliseconds, in the order of the file. Finite and not negative.
    Exact(Vec<f64>),
    /// A histogram: the file has no more, or too many values to keep.
    Counted {
        /// Values and their counts; equal values may occur more than once.
        buckets: Vec<Bucket>,
        /// How far a value may lie from the truth, as a share of it.
        relative_error: f64,
    },
}

impl Values {
    /// How many there are.
    pub fn count(&self) -> u64 {
        match self {
            Self::Exact(values) => values.len() as u64,
            Self::Counted { buckets, .. } => buckets.iter().map(|bucket| bucket.count).sum(),
        }
    }

    /// The values, where each is known.
    pub fn exact(&self) -> Option<&[f64]> {
        match self {
            Self::Exact(values) => Some(values),
            Self::Counted { .. } => None,
        }
    }

    /// Exact values become counts if others are.
    fn append(&mut self, other: Self) {
        let one = |value_ms| Bucket::exact(value_ms, 1);
        match (&mut *self, other) {
            (Self::Exact(values), Self::Exact(more)) => values.extend(more),
            (Self::Exact(values), Self::Counted { mut buckets, relative_error }) => {
                buckets.extend(values.iter().copied().map(one));
                *self = Self::Counted { buckets, relative_error };
            }
            (Self::Counted { buckets, .. }, Self::Exact(more)) => buckets.extend(more.into_iter().map(one)),
            (
                Self::Counted { buckets, relative_error },
                Self::Counted { buckets: more, relative_error: other },
            ) => {
                buckets.extend(more);
                *relative_error = relative_error.max(other);
            }
        }
    }
}

impl TryFrom<Values> for Distribution {
    type Error = statistics::Error;

    /// Values are finite and not negative, so only too many of them are an error.
    fn try_from(values: Values) -> Result<Self, statistics::Error> {
        match values {
            Values::Exact(values) => Self::new(values),
            Values::Counted { buckets, relative_error } => Self::from_counts(buckets, relative_error),
        }
    }
}

/// Reads one metric of a recording; the format is recognised by its content.
///
/// # Errors
/// The file cannot be opened or read, is not a recording, violates its format, or has no value of
/// the metric: each with the position and the expected content.
pub fn read_series(path: &Path, wanted: &Wanted) -> Result<Series, Error> {
    let mut builder = Builder::new(path, wanted);
    let origin = crate::read(path, &wanted.options(), &mut builder)?;
    builder.finish(origin)
}

/// [`read_series`]; `look` sees every single sample of the file in its order.
///
/// # Errors
/// As [`read_series`].
pub fn read_series_beside(
    path: &Path,
    wanted: &Wanted,
    look: &mut dyn FnMut(&Sample),
) -> Result<Series, Error> {
    let mut sink = Watched { builder: Builder::new(path, wanted), look };
    let origin = crate::read(path, &wanted.options(), &mut sink)?;
    sink.builder.finish(origin)
}

/// [`read_series`] from any reader, without a buffer. `path` stands for it in messages and labels.
///
/// # Errors
/// As [`read_series`].
pub fn decode_series(input: impl Read, path: &Path, wanted: &Wanted) -> Result<Series, Error> {
    let mut builder = Builder::new(path, wanted);
    let origin = crate::decode(input, path, &wanted.options(), &mut builder)?;
    builder.finish(origin)
}

impl Series {
    /// Adds requests of another recording, all of which failed.
    pub fn add_failed(&mut self, failed: u64) {
        self.read += failed;
        self.failed += failed;
    }

    /// Adds another recording of the same side. Times stay relative to the start of each; label,
    /// format, header and end are those of `self`.
    ///
    /// # Errors
    /// The other has another metric; then nothing is added.
    pub fn append(&mut self, other: Self) -> Result<(), Error> {
        if other.metric != self.metric {
            let place = Place { path: other.label.into(), line: 1, column: 1 };
            let expected = format!("{}, as in {}", self.metric, self.label);
            return Err(Error::Metric { place, found: format!("values of {}", other.metric), expected });
        }
        let (mine, others) = (self.values.count(), other.values.count());
        self.append_times(other.started_s);
        let used = self.used_pages();
        self.pages = groups::append_pages(self.pages.take(), mine, other.pages, others, used);
        self.groups = groups::append(self.groups.take(), mine, other.groups, others);
        self.phases = match (self.phases.take(), other.phases) {
            (Some(mut phases), Some(more)) => {
                phases.iter_mut().zip(more).for_each(|(phase, more)| phase.extend(more));
                Some(phases)
            }
            _ => None,
        };
        self.own_errors_ms = match (self.own_errors_ms.take(), other.own_errors_ms) {
            (Some(mut errors), Some(more)) => {
                errors.extend(more);
                Some(errors)
            }
            _ => None,
        };
        self.parts = match (self.parts.take(), other.parts) {
            (Some(mut parts), Some(more)) => {
                parts.extend(more);
                Some(parts)
            }
            _ => None,
        };
        self.values.append(other.values);
        if self.values.exact().is_none() {
            (self.started_s, self.pages, self.groups, self.phases) = (None, None, None, None);
            self.own_errors_ms = None;
            self.failures = Vec::new();
        }
        self.read += other.read;
        self.failed += other.failed;
        self.without_metric += other.without_metric;
        self.excluded += other.excluded;
        self.taken_out += other.taken_out;
        if self.values.exact().is_some() {
            let moved = |failure: Failure| Failure { page: groups::moved(failure.page, used), ..failure };
            self.failures.extend(other.failures.into_iter().map(moved));
        }
        self.without_s.extend(other.without_s);
        self.doubts.extend(other.doubts);
        Ok(())
    }

    fn used_pages(&self) -> u32 {
        let failed = self.failures.iter().map(|failure| &failure.page);
        let pages = self.pages.iter().flatten().chain(failed).filter(|&&page| page != NO_GROUP);
        pages.max().map_or(0, |page| page.saturating_add(1))
    }

    fn append_times(&mut self, others: Option<Vec<f64>>) {
        self.started_s = match (self.started_s.take(), others) {
            (Some(mut times), Some(more)) => {
                times.extend(more);
                Some(times)
            }
            (None, None) => None,
            _ => {
                self.doubts.push(Doubt::Noticed(
                    "Only some of the recordings have the times of samples; times are left out.".to_owned(),
                ));
                None
            }
        };
    }

    fn keep(&mut self, kept: &[bool]) {
        fn retain<T: Copy>(column: &mut Vec<T>, kept: &[bool]) {
            let mut kept = kept.iter();
            column.retain(|_| kept.next().copied().unwrap_or(false));
        }
        if let Values::Exact(values) = &mut self.values {
            retain(values, kept);
        }
        if let Some(times) = &mut self.started_s {
            retain(times, kept);
        }
        if let Some(pages) = &mut self.pages {
            retain(pages, kept);
        }
        if let Some(groups) = &mut self.groups {
            retain(&mut groups.of, kept);
        }
        self.phases.iter_mut().flatten().for_each(|phase| retain(phase, kept));
        self.own_errors_ms.iter_mut().for_each(|errors| retain(errors, kept));
    }
}

#[cfg(test)]
mod tests;
