//! Writes recordings, one format a file.
//!
//! [`create`] makes the file; the result takes a header, then events and counts as a [`Sink`], then
//! an end, and reports what the format could not hold.

use std::path::Path;

use units::show::relative;

use crate::{Counts, End, Error, Event, Header, Metric, Sink, Unknown, is_standard};

mod annotate;
mod csv;
mod growing;
mod hgrm;
mod hlog;
mod lost;
mod named;
mod native;
mod output;
mod prometheus;

pub use annotate::annotate;
pub use growing::Growing;
use lost::Lost;
use named::Named;
pub use native::Writer;
use output::Output;
pub use output::{temporaries_of, write_whole, write_whole_by};

/// A format that can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// JSON lines with a header, which loses nothing.
    Native,
    /// Rows of columns, with commas.
    Csv,
    /// Rows of columns, with tabs.
    Tsv,
    /// HdrHistogram interval log, V2.
    Hlog,
    /// HdrHistogram percentile text.
    Hgrm,
    /// Prometheus text: a histogram.
    Prometheus,
}

impl Target {
    /// The format for a file name, also before .gz or .zst: .jsonl, .json, .csv, .tsv, .hlog,
    /// .hgrm, .prom. Standard output is native.
    ///
    /// # Errors
    /// The name has another extension, or none.
    pub fn of(path: &Path) -> Result<Self, Unknown> {
        if is_standard(path) {
            return Ok(Self::Native);
        }
        let (plain, _) = output::packing(path);
        match plain.rsplit_once('.').map(|(_, extension)| extension) {
            Some("jsonl" | "json") => Ok(Self::Native),
            Some("csv") => Ok(Self::Csv),
            Some("tsv") => Ok(Self::Tsv),
            Some("hlog") => Ok(Self::Hlog),
            Some("hgrm") => Ok(Self::Hgrm),
            Some("prom") => Ok(Self::Prometheus),
            _ => Err(Unknown {
                what: "format of the output",
                found: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                expected: "a name that ends in .jsonl, .csv, .tsv, .hlog, .hgrm or .prom, perhaps with .gz or .zst after it",
            }),
        }
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Hlog => "hlog",
            Self::Hgrm => "hgrm",
            Self::Prometheus => "prometheus",
        }
    }

    const ALL: [Self; 6] = [Self::Native, Self::Csv, Self::Tsv, Self::Hlog, Self::Hgrm, Self::Prometheus];
}

impl std::str::FromStr for Target {
    type Err = Unknown;

    fn from_str(text: &str) -> Result<Self, Unknown> {
        Self::ALL.into_iter().find(|target| target.name() == text).ok_or_else(|| Unknown {
            what: "format",
            found: text.to_owned(),
            expected: "native, csv, tsv, hlog, hgrm or prometheus",
        })
    }
}

/// Options for writing a recording.
#[derive(Debug, Clone, PartialEq)]
pub struct WriteOptions {
    /// The metric of formats that hold one; by default the first of latency, ttfb and total.
    pub metric: Option<Metric>,
    /// Significant digits of histograms, 1 to 5.
    pub digits: u8,
    /// The length of a log's intervals, seconds; at least a millisecond.
    pub interval_s: f64,
    /// The label whose values become the tags of a log.
    pub tag: Option<String>,
    /// The label `side` of a Prometheus histogram; by default the header's label.
    pub side: Option<String>,
    /// Buckets of a Prometheus histogram: 2^schema to a power of two; -4 to 8.
    pub schema: i8,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self { metric: None, digits: 3, interval_s: 1.0, tag: None, side: None, schema: 3 }
    }
}

/// Takes a recording and writes it: the header first, then events or counts, then the end.
pub trait Recorder: Sink {
    /// Writes the beginning of the recording, before any event.
    ///
    /// # Errors
    /// The output's.
    fn begin(&mut self, header: &Header) -> Result<(), Error>;

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// The output's; then there is no file, or the previous one.
    fn finish(self: Box<Self>, end: &End) -> Result<Written, Error>;
}

/// The result of writing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// Samples in the file, including failed ones except in HdrHistogram's formats.
    pub samples: u64,
    /// Successful samples that lack the one metric of the format.
    pub without_metric: u64,
    /// Losses because of the format, as sentences.
    pub lost: Vec<String>,
}

/// Begins a file of the given format, packed if its name ends in .gz or .zst. It appears under its
/// name in [`Recorder::finish`].
///
/// ```
/// use recording::{End, Event, Header, Sample, Target, WriteOptions};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("edge.hlog.gz");
/// let mut recorder = recording::create(&path, Target::of(&path)?, &WriteOptions::default())?;
/// recorder.begin(&Header::default())?;
/// let sample = Sample { latency_ns: Some(12_700_000), ..Sample::default() };
/// recorder.event(&Event { number: 1, sample: &sample, exact: &[] })?;
/// let written = recorder.finish(&End::default())?;
/// assert_eq!((written.samples, written.lost), (1, vec!["Each value is kept within 0.049 %.".to_owned()]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// No file can be created there.
pub fn create(path: &Path, target: Target, options: &WriteOptions) -> Result<Box<dyn Recorder>, Error> {
    let output = Output::create(path)?;
    let recorder: Box<dyn Recorder> = match target {
        Target::Native => Box::new(native::Native::new(output)),
        Target::Csv => Box::new(csv::Csv::new(output, b',', path)?),
        Target::Tsv => Box::new(csv::Csv::new(output, b'\t', path)?),
        Target::Hlog => Box::new(hlog::Hlog::new(output, options)),
        Target::Hgrm => Box::new(hgrm::Hgrm::new(output, options)),
        Target::Prometheus => Box::new(prometheus::Prometheus::new(output, options)),
    };
    Ok(Box::new(Named { recorder, path: path.to_owned() }))
}

fn refuse_counts(target: Target, line: u64) -> Error {
    let problem = format!(
        "the input has only counts of latencies, and {} requires single samples; hlog, hgrm and prometheus take counts",
        target.name()
    );
    Error::Write { path: None, line, source: std::io::Error::new(std::io::ErrorKind::InvalidInput, problem) }
}

#[derive(Debug)]
struct Chosen {
    metric: Option<Metric>,
    samples: u64,
    failed: u64,
    without_metric: u64,
    relative_error: f64,
    lost: Lost,
}

impl Chosen {
    fn new(metric: Option<Metric>) -> Self {
        let lost = Lost::default();
        Self { metric, samples: 0, failed: 0, without_metric: 0, relative_error: 0.0, lost }
    }

    /// In ms. Counts other data of the event that the format cannot store.
    fn value(&mut self, event: &Event<'_>) -> Option<f64> {
        let sample = event.sample;
        if sample.error.is_some() {
            self.failed += 1;
            return None;
        }
        let metric = self.metric.or_else(|| {
            self.metric = event.first_metric();
            self.metric
        });
        let value = metric.and_then(|metric| event.milliseconds(metric));
        match value {
            Some(_) => self.samples += 1,
            None => self.without_metric += 1,
        }
        let mut others = Metric::ALL.into_iter().filter(|&other| Some(other) != metric);
        if others.any(|other| event.milliseconds(other).is_some()) {
            self.lost.note("Phases and other metrics");
        }
        if sample.page.is_some() {
            self.lost.note("Pages");
        }
        if sample.status.is_some() || sample.body_bytes.is_some() || sample.reused.is_some() {
            self.lost.note("Status, size and reuse of the connection");
        }
        if sample.remote.is_some() || sample.family.is_some() || sample.fallback.is_some() {
            self.lost.note("Where connections led");
        }
        if sample.intended_ns.is_some() {
            self.lost.note("Intended starts");
        }
        if sample.own_error_ns.is_some() {
            self.lost.note(OWN_ERRORS);
        }
        value
    }

    fn counts(&mut self, counts: &Counts) {
        self.samples += counts.events();
        self.relative_error = self.relative_error.max(counts.relative_error);
    }

    fn lose_name_and_doubt(&mut self, relative_error: f64) {
        if let Some(metric) = self.metric.filter(|&metric| metric != Metric::Latency) {
            self.lost.say(format!(
                "The file does not contain the name of its metric, {metric}: compare it with --metric {metric}."
            ));
        }
        if self.relative_error > relative_error {
            self.lost.say(format!(
                "The input has each value only within {}, which the file cannot contain.",
                relative(self.relative_error)
            ));
        }
    }

    fn lose_time_and_labels(&mut self, event: &Event<'_>) {
        if event.sample.started_ns.is_some() {
            self.lost.note("Start times");
        }
        let sample = event.sample;
        if !sample.labels.is_empty() || sample.cache.is_some() || sample.zone.is_some() {
            self.lost.note("Labels");
        }
    }

    fn lose_time_and_tags(&mut self, counts: &Counts) {
        if counts.tag.is_some() {
            self.lost.note_all("Tags", counts.events());
        }
        if counts.started_s.is_some() {
            self.lost.note_all("Start times", counts.events());
        }
    }

    fn name(&self) -> &'static str {
        self.metric.unwrap_or(Metric::Latency).name()
    }

    /// Fails if there is nothing to make a histogram of.
    fn check(&self) -> Result<(), Error> {
        if self.samples > 0 {
            return Ok(());
        }
        let problem = format!("there is no sample with {} to write", self.name());
        Err(Error::Write {
            path: None,
            line: 1,
            source: std::io::Error::new(std::io::ErrorKind::InvalidInput, problem),
        })
    }

    fn written(mut self) -> Written {
        if self.failed > 0 {
            self.lost.note_all("Failures", self.failed);
        }
        if self.without_metric > 0 {
            self.lost.note_all("Samples without the metric", self.without_metric);
        }
        Written { samples: self.samples, without_metric: self.without_metric, lost: self.lost.sentences() }
    }
}

fn precision(relative_error: f64) -> String {
    format!("Each value is kept within {}.", relative(relative_error))
}

/// The error that an emulator may have added to samples.
const OWN_ERRORS: &str = "The emulator's own errors";

#[cfg(test)]
mod tests;
