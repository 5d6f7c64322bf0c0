//! Fills the columns of a series from the events of a file.

use std::path::{Path, PathBuf};

use claim::Doubt;
use units::show::relative;

use super::{
    Failure, Series, Values,
    beside::Beside,
    clock::Clock,
    parts::{Parts, compact},
    wanted::Wanted,
};
use crate::{
    Bucket, Counts, End, Error, Event, Histogram, Metric, Place, Sink,
    error::counted,
    read::{Origin, unix_seconds},
    sink::one_by_one,
    standard_streams::shown,
    unit::nanoseconds,
};

pub(super) struct Builder<'w> {
    path: PathBuf,
    wanted: &'w Wanted,
    metric: Option<Metric>,
    values: Vec<f64>,
    /// As long as the values, or shorter if some have no time.
    started_s: Vec<f64>,
    clock: Clock,
    beside: Beside,
    /// One per value, or fewer if it is unknown for some values.
    own_errors_ms: Vec<f64>,
    histogram: Option<Histogram>,
    buckets: Vec<Bucket>,
    parts: Parts,
    relative_error: f64,
    read: u64,
    failed: u64,
    without: u64,
    /// Only while values are kept one by one.
    failures: Vec<Failure>,
    without_s: Vec<f64>,
    taken_out: u64,
    below_zero: u64,
    last: (u64, Vec<Metric>),
}

impl Sink for Builder<'_> {
    fn metric(&mut self, metric: Metric) {
        self.metric.get_or_insert(metric);
    }

    fn event(&mut self, event: &Event<'_>) -> Result<(), Error> {
        self.read += 1;
        if event.sample.error.is_some() {
            self.failed += 1;
            if self.histogram.is_none() {
                let started_s = self.clock.since(event);
                self.failures.push(Failure { started_s, page: self.beside.page(event.sample) });
            }
            return Ok(());
        }
        let Some(value) = self.value(event) else {
            self.without += 1;
            self.without_s.extend(self.clock.since(event));
            let present = Metric::ALL.into_iter().filter(|&metric| event.milliseconds(metric).is_some());
            self.last = (event.number, present.collect());
            return Ok(());
        };
        if let Some(histogram) = &mut self.histogram {
            histogram.record(nanoseconds(value));
            return Ok(());
        }
        if self.values.len() >= self.wanted.exact_up_to {
            self.overflow(value);
            return Ok(());
        }
        self.started_s.extend(self.clock.since(event));
        self.clock.look(event, value);
        self.beside.push(event.sample, self.values.len(), self.wanted);
        self.own_errors_ms.extend(event.sample.own_error_ns.map(|ns| ns as f64 / 1e6));
        self.values.push(value);
        Ok(())
    }

    fn values(&mut self, number: u64, metric: Metric, values_ms: &[f64]) -> Result<(), Error> {
        let fits = self.values.len() + values_ms.len() <= self.wanted.exact_up_to;
        let is_plain = self.started_s.is_empty() && self.beside.is_empty() && self.histogram.is_none();
        if self.metric == Some(metric) && self.wanted.excluded_phases.is_empty() && fits && is_plain {
            self.read += values_ms.len() as u64;
            self.values.extend_from_slice(values_ms);
            return Ok(());
        }
        one_by_one(self, number, metric, values_ms)
    }

    fn counts(&mut self, counts: &Counts) -> Result<(), Error> {
        self.read += counts.events();
        self.buckets.extend_from_slice(&counts.buckets);
        self.parts.push(counts);
        self.relative_error = self.relative_error.max(counts.relative_error);
        if self.buckets.len() > MOST_BUCKETS {
            compact(&mut self.buckets);
        }
        Ok(())
    }
}

impl<'w> Builder<'w> {
    pub(super) fn new(path: &Path, wanted: &'w Wanted) -> Self {
        Self {
            path: shown(path).to_owned(),
            wanted,
            metric: wanted.metric,
            values: Vec::new(),
            started_s: Vec::new(),
            clock: Clock::default(),
            beside: Beside::default(),
            own_errors_ms: Vec::new(),
            histogram: None,
            buckets: Vec::new(),
            parts: Parts::default(),
            relative_error: 0.0,
            read: 0,
            failed: 0,
            without: 0,
            failures: Vec::new(),
            without_s: Vec::new(),
            taken_out: 0,
            below_zero: 0,
            last: (1, Vec::new()),
        }
    }

    /// Without the phases that do not count.
    fn value(&mut self, event: &Event<'_>) -> Option<f64> {
        let metric = match self.metric {
            Some(metric) => metric,
            // The first event that has any of them decides.
            None => *self.metric.insert(event.first_metric()?),
        };
        let value = event.milliseconds(metric)?;
        let mut phases =
            self.wanted.excluded_phases.iter().filter_map(|&phase| event.milliseconds(phase)).peekable();
        if phases.peek().is_none() {
            return Some(value);
        }
        let rest = value - phases.sum::<f64>();
        self.taken_out += 1;
        self.below_zero += u64::from(rest < 0.0);
        Some(rest.max(0.0))
    }

    /// From here on only counts are kept.
    fn overflow(&mut self, value: f64) {
        let mut histogram = Histogram::new(OVERFLOW_DIGITS);
        for value in std::mem::take(&mut self.values) {
            histogram.record(nanoseconds(value));
        }
        histogram.record(nanoseconds(value));
        self.histogram = Some(histogram);
        (self.started_s, self.beside, self.failures, self.own_errors_ms) = Default::default();
    }

    pub(super) fn finish(mut self, origin: Origin) -> Result<Series, Error> {
        let Some(metric) = self.metric.filter(|_| self.without + self.failed < self.read) else {
            return Err(self.no_values(&origin));
        };
        let label = label(&origin, &self.path);
        let mut warnings = origin.warnings;
        let (started_s, earliest_s) = self.times(&mut warnings);
        let start = origin.header.as_ref().and_then(|header| header.start.as_deref());
        let start_unix_s =
            self.clock.base_unix_s().map(|base| base + earliest_s).or_else(|| unix_seconds(start?));
        self.warn(&mut warnings);
        let (parts, earliest_part_s) = std::mem::take(&mut self.parts).finish(&mut warnings);
        let start_unix_s = start_unix_s.or(earliest_part_s);
        // If there are also samples, the parts do not cover everything.
        let parts = parts.filter(|_| self.values.is_empty() && self.histogram.is_none());
        if let (Some(by), Some(parts)) = (&self.wanted.by, &parts)
            && !by.eq_ignore_ascii_case(TAG)
            && parts.iter().any(|part| part.tag.is_some())
        {
            warnings.push(format!(
                "The meaning of the tags is not in the file; they are read as the label \"{by}\"."
            ));
        }
        let values = self.take_values();
        // Counts have no further columns.
        let (beside, failures) = values.exact().map(|_| (self.beside, self.failures)).unwrap_or_default();
        let (pages, groups, phases) = beside.into_columns();
        let count = values.exact().map(<[f64]>::len);
        let own_errors_ms = Some(self.own_errors_ms).filter(|errors| count == Some(errors.len()));
        Ok(Series {
            label,
            format: origin.format,
            metric,
            started_s,
            start_unix_s,
            pages,
            groups,
            phases,
            own_errors_ms,
            values,
            parts,
            read: self.read,
            failed: self.failed,
            without_metric: self.without,
            excluded: 0,
            taken_out: self.taken_out,
            failures,
            without_s: self.without_s,
            header: origin.header,
            doubts: recorded(origin.end.as_ref()).chain(warnings.into_iter().map(Doubt::Noticed)).collect(),
            end: origin.end,
        })
    }

    /// If each value has one, counted from the earliest if they are dates; and when the earliest
    /// was.
    fn times(&mut self, warnings: &mut Vec<String>) -> (Option<Vec<f64>>, f64) {
        let mut times = std::mem::take(&mut self.started_s);
        if times.len() < self.values.len() {
            if !times.is_empty() {
                let missing = self.values.len() - times.len();
                let all = counted(self.values.len() as u64, "sample");
                warnings.push(format!("{missing} of {all} without a start time; times are left out."));
            }
            return (None, 0.0);
        }
        if times.is_empty() || self.clock.base_unix_s().is_none() {
            return (Some(times).filter(|times| !times.is_empty()), 0.0);
        }
        let earliest = times.iter().copied().fold(f64::INFINITY, f64::min);
        let failed = self.failures.iter_mut().filter_map(|failure| failure.started_s.as_mut());
        times.iter_mut().chain(&mut self.without_s).chain(failed).for_each(|time| *time -= earliest);
        (Some(times), earliest)
    }

    fn warn(&self, warnings: &mut Vec<String>) {
        warnings.extend(self.clock.warnings());
        self.warn_of_phases(warnings);
        if let Some(histogram) = &self.histogram {
            warnings.push(format!(
                "More than {} samples: kept as a histogram, each value within {}; times, pages, labels and phases \
                 are left out.",
                self.wanted.exact_up_to,
                relative(histogram.relative_error())
            ));
        }
    }

    fn warn_of_phases(&self, warnings: &mut Vec<String>) {
        if self.wanted.excluded_phases.is_empty() {
            return;
        }
        let phases: Vec<&str> = self.wanted.excluded_phases.iter().map(|phase| phase.name()).collect();
        let (phases, used) = (phases.join(" or "), self.read - self.failed - self.without);
        if self.taken_out < used {
            let untouched = used - self.taken_out;
            warnings.push(format!(
                "{untouched} of {} have no {phases}: nothing is subtracted from them.",
                counted(used, "sample")
            ));
        }
        if self.below_zero > 0 {
            let below = counted(self.below_zero, "sample");
            warnings.push(format!("In {below} {phases} takes longer than the whole: the rest counts as 0."));
        }
    }

    fn take_values(&mut self) -> Values {
        let mut buckets = std::mem::take(&mut self.buckets);
        let mut relative_error = self.relative_error;
        if let Some(histogram) = &self.histogram {
            buckets.extend(histogram.buckets());
            relative_error = relative_error.max(histogram.relative_error());
        }
        if buckets.is_empty() {
            return Values::Exact(std::mem::take(&mut self.values));
        }
        buckets.extend(self.values.drain(..).map(|value_ms| Bucket::exact(value_ms, 1)));
        compact(&mut buckets);
        Values::Counted { buckets, relative_error }
    }

    /// None of the samples has the metric; `last` shows what they have.
    fn no_values(&self, origin: &Origin) -> Error {
        let (line, present) = &self.last;
        let place = Place { path: self.path.clone(), line: *line, column: 1 };
        let wanted = self
            .metric
            .map_or_else(|| "latency, ttfb or total".to_owned(), |metric| metric.name().to_owned());
        if self.read > 0 && self.failed == self.read {
            let (label, format) = (label(origin, &self.path), origin.format.name());
            return Error::AllFailed { place, failed: self.failed, wanted, label, format };
        }
        let read = counted(self.read, "sample");
        let present: Vec<&str> = present.iter().map(|metric| metric.name()).collect();
        let found = match present.is_empty() {
            _ if self.read == 0 => "no samples".to_owned(),
            true => format!("{read} without {wanted}"),
            false => format!("{read} without {wanted}, the last with {}", present.join(", ")),
        };
        Error::Metric { place, found, expected: format!("at least one sample with {wanted}") }
    }
}

fn recorded(end: Option<&End>) -> impl Iterator<Item = Doubt> {
    let reasons = end.map(|end| end.invalid.clone()).unwrap_or_default();
    reasons.into_iter().map(Doubt::Recorded)
}

fn label(origin: &Origin, path: &Path) -> String {
    let own = origin.header.as_ref().and_then(|header| header.label.clone());
    own.unwrap_or_else(|| stem(path))
}

fn stem(path: &Path) -> String {
    // The extensions of packed files hide another.
    let name = path.file_name().map_or_else(|| "recording".into(), std::ffi::OsStr::to_string_lossy);
    let packed = [".gz", ".zst", ".bz2", ".xz"].into_iter().find_map(|end| name.strip_suffix(end));
    let unpacked = packed.unwrap_or(&name);
    let stem = Path::new(unpacked).file_stem();
    stem.map_or_else(|| "recording".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// 0.003 % of error, finer than most clocks.
const OVERFLOW_DIGITS: u8 = 4;

/// The label of tags if the user names none.
const TAG: &str = "tag";

/// Buckets held before equal ones are put together.
const MOST_BUCKETS: usize = 4 << 20;
