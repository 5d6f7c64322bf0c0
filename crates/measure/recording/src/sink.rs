//! The output of decoders: events one by one, or counts if a format has only those.

use statistics::Bucket;

use crate::{Error, Metric, Sample, unit::nanoseconds};

/// Takes what a decoder reads, in the order of the file.
pub trait Sink {
    /// The only metric of the format. Called at most once, before anything else.
    fn metric(&mut self, metric: Metric) {
        let _ = metric;
    }

    /// One event.
    ///
    /// # Errors
    /// The sink's own, which the decoder returns.
    fn event(&mut self, event: &Event<'_>) -> Result<(), Error>;

    /// Events with only one metric, the first of them on line `number`. The same as [`Sink::event`]
    /// for each, but may be faster.
    ///
    /// # Errors
    /// As [`Sink::event`].
    fn values(&mut self, number: u64, metric: Metric, values_ms: &[f64]) -> Result<(), Error> {
        one_by_one(self, number, metric, values_ms)
    }

    /// Events of which only counts are known.
    ///
    /// # Errors
    /// The sink's own, which the decoder returns.
    fn counts(&mut self, counts: &Counts) -> Result<(), Error>;
}

/// What [`Sink::values`] means.
pub(crate) fn one_by_one<S: Sink + ?Sized>(
    sink: &mut S,
    number: u64,
    metric: Metric,
    values_ms: &[f64],
) -> Result<(), Error> {
    let mut sample = Sample::default();
    for (number, &ms) in (number..).zip(values_ms) {
        sample.set(metric, Some(nanoseconds(ms)));
        sink.event(&Event { number, sample: &sample, exact: &[(metric, ms)] })?;
    }
    Ok(())
}

/// One event of a file.
#[derive(Debug, Clone, Copy)]
pub struct Event<'e> {
    /// The line in the file, or the number of the entry; from 1.
    pub number: u64,
    /// The sample, with times rounded to nanoseconds. Times above [`crate::EPOCH_NS`] count from
    /// 1970.
    pub sample: &'e Sample,
    /// Values that are more precise than nanoseconds or that a sample has no field for. They take
    /// precedence over the sample's.
    pub exact: &'e [(Metric, f64)],
}

impl Event<'_> {
    /// The metric in milliseconds; `None` if it was not measured or the event failed.
    pub fn milliseconds(&self, metric: Metric) -> Option<f64> {
        if self.sample.error.is_some() {
            return None;
        }
        let exact = self.exact.iter().find(|(named, _)| *named == metric).map(|&(_, ms)| ms);
        exact.or_else(|| Some(self.sample.get(metric)? as f64 / 1e6))
    }

    /// The first of [`Metric::CANDIDATES`] that was measured.
    pub fn first_metric(&self) -> Option<Metric> {
        Metric::CANDIDATES.into_iter().find(|&metric| self.milliseconds(metric).is_some())
    }
}

/// The histogram of one interval of a recording, or of all of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counts {
    /// When the interval began: seconds since the recording's start or, if above 1e8, since 1970.
    pub started_s: Option<f64>,
    /// How long the interval is, seconds.
    pub length_s: Option<f64>,
    /// Distinguishes this histogram from others of the same file.
    pub tag: Option<String>,
    /// The middles of the buckets with their counts above 0, ascending.
    pub buckets: Vec<Bucket>,
    /// How far a value may lie from the truth, as a share of it.
    pub relative_error: f64,
}

impl Counts {
    /// The distance from the truth may be as large as the value, and callers divide by the
    /// remainder.
    pub(crate) const LARGEST_ERROR: f64 = 0.999;

    /// How many events there are.
    pub fn events(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.count).sum()
    }
}
