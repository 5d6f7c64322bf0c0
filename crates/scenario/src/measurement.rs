//! What all kinds of measurement have in common: what one is to those who run it, and what comes of it.

use std::{sync::Arc, time::Duration};

use claim::{Claim, Doubt, Evidence, Source};
use recording::Metric;
use report::{FaultMark, Partial, SideInput, figures::Figures};
use serde_json::Value;
use toml::Spanned;
use units::Bytes;

use crate::{error::Error, folder::Folder, program::Job};

/// A measurement, to those who run it.
pub(crate) trait Measures {
    /// Whose it is.
    fn side(&self) -> &str;

    /// The hosts that must be alive for it.
    fn hosts(&self) -> Vec<&str>;

    /// The side whose measurements end before this one begins, and where the file says so.
    fn after(&self) -> Option<&Spanned<String>> {
        None
    }

    /// How long it takes, as far as the file says it.
    fn lasts(&self) -> Duration;

    /// Of one that is started before measuring begins and then waits by itself: the time over which those like it spread
    /// their beginnings, so that they do not come in bursts.
    fn spread(&self) -> Option<Duration> {
        None
    }

    /// What is to be started. `delay` is how long one that is started ahead waits; `log_limit` how much of its output is
    /// kept.
    fn task(&self, folder: &Folder<'_>, delay: Duration, log_limit: Bytes) -> Task;
}

/// Something that measures: its job, when it begins, and how it may end.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Task {
    /// Whose it is.
    pub side: String,
    /// The side whose measurements end before this one begins.
    pub after: Option<String>,
    /// What is to be started.
    pub job: Job,
    /// Exit codes with which it has measured.
    pub codes: Vec<u8>,
    /// How long it may take; `None` if it ends by itself.
    pub timeout: Option<Duration>,
}

impl Task {
    /// One of ours, which begins at once. 1 is a result that is not good; it is read and says why.
    pub(crate) fn ours(side: &str, job: Job) -> Self {
        Self { side: side.to_owned(), after: None, job, codes: vec![0, 1], timeout: None }
    }
}

/// What a kind needs to know to read what its measurements left.
pub(crate) struct Reading<'r> {
    /// Where the files are.
    pub folder: &'r Folder<'r>,
    /// The metric of requests.
    pub metric: Metric,
    /// What is claimed.
    pub claims: &'r [Claim],
    /// What happened meanwhile.
    pub faults: &'r [FaultMark],
    /// How much was measured, if not all.
    pub partial: Option<Partial>,
}

/// What was read of a kind.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Sides whose requests are compared.
    pub sides: Vec<SideInput>,
    /// What came of single measurements, or of those of a side.
    pub measured: Vec<Measured>,
    /// What claims can ask.
    pub evidence: Vec<(String, Evidence)>,
    /// Charts and tables of it.
    pub figures: Option<Figures>,
    /// When measuring started, RFC 3339, where it is recorded.
    pub start: Option<String>,
    /// What must be known to measure it again.
    pub conditions: Vec<(String, String)>,
    /// What gives reason to doubt it.
    pub doubts: Vec<Doubt>,
}

/// What came of a measurement, or of all those of a side.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The side.
    pub side: String,
    /// Where it was measured; of several hosts the first.
    pub host: String,
    /// The kind of measurement.
    pub kind: Source,
    /// The result as it stands in `result.json`.
    pub detail: Arc<Value>,
}

/// What could not be read of a run: an error, unless the run was ended before its time.
#[derive(Debug)]
pub(crate) struct Missing {
    is_allowed: bool,
    pub doubts: Vec<Doubt>,
}

impl Missing {
    /// Of a run that was ended before its time, or of a whole one.
    pub(crate) fn of(partial: Option<Partial>) -> Self {
        Self { is_allowed: partial.is_some(), doubts: Vec::new() }
    }

    /// What was read, or nothing.
    pub(crate) fn bear<T>(&mut self, what: &str, read: Result<T, Error>) -> Result<Option<T>, Error> {
        match read {
            Err(error) if self.is_allowed => {
                self.doubts.push(Doubt::NoResult { what: what.to_owned(), why: error.to_string() });
                Ok(None)
            }
            other => other.map(Some),
        }
    }
}

/// How long something measures if the file does not say it.
pub(crate) fn default_duration() -> Duration {
    Duration::from_secs(30)
}
