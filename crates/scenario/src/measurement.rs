//! What all kinds of measurement have in common: their interface for the runner, and the form of their results.

use std::{sync::Arc, time::Duration};

use claim::{Claim, Doubt, Evidence, Source};
use recording::Metric;
use report::{FaultMark, Partial, SideInput, figures::Figures};
use serde_json::Value;
use toml::Spanned;
use units::Bytes;
use world::Layout;

use crate::{emulator::Emulator, error::Error, folder::Folder, program::Job};

/// The runner's interface to a measurement.
pub(crate) trait Measures {
    /// The side that it measures.
    fn side(&self) -> &str;

    /// The hosts that must stay alive while it measures.
    fn hosts(&self) -> Vec<&str>;

    /// The side whose measurements must end before this one begins, with its position in the file.
    fn after(&self) -> Option<&Spanned<String>> {
        None
    }

    /// How long it takes according to the file.
    fn lasts(&self) -> Duration;

    /// For a measurement that is started early and then waits: the time over which measurements of its kind spread
    /// their beginnings, so that they do not come in bursts.
    fn spread(&self) -> Option<Duration> {
        None
    }

    /// The task of the runner. `delay` is how long a measurement that is started early waits; `log_limit` is how much
    /// of its output is kept.
    fn task(&self, folder: &Folder<'_>, delay: Duration, log_limit: Bytes) -> Task;
}

/// A job that measures, when it begins, and how it may end.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Task {
    /// The side.
    pub side: String,
    /// The side whose measurements must end before this one begins.
    pub after: Option<String>,
    /// The job.
    pub job: Job,
    /// Exit codes that mean success.
    pub codes: Vec<u8>,
    /// The timeout; `None` if it ends by itself.
    pub timeout: Option<Duration>,
}

impl Task {
    /// A job of this program that begins at once. Exit code 1 means that the result is bad; the result is read and
    /// contains the reason.
    pub(crate) fn ours(side: &str, job: Job) -> Self {
        Self { side: side.to_owned(), after: None, job, codes: vec![0, 1], timeout: None }
    }
}

/// Everything that a kind needs for reading its results.
pub(crate) struct Inputs<'r> {
    /// The folder with the files.
    pub folder: &'r Folder<'r>,
    /// The metric of requests.
    pub metric: Metric,
    /// The claims.
    pub claims: &'r [Claim],
    /// The faults.
    pub faults: &'r [FaultMark],
    /// The world.
    pub layout: &'r Layout,
    /// What the planet held up meanwhile.
    pub emulator: &'r Emulator,
    /// How much was measured, if not all.
    pub partial: Option<Partial>,
}

/// The results of one kind.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Sides whose requests are compared.
    pub sides: Vec<SideInput>,
    /// One entry per measurement or per side.
    pub measured: Vec<ResultEntry>,
    /// Evidence for claims, by side.
    pub evidence: Vec<(String, Evidence)>,
    /// Charts and tables.
    pub figures: Option<Figures>,
    /// When measuring started, RFC 3339, if it was recorded.
    pub start: Option<String>,
    /// How to repeat the measurements.
    pub conditions: Vec<(String, String)>,
    /// Reasons to doubt the results.
    pub doubts: Vec<Doubt>,
}

/// The result of a measurement, or of all measurements of a side.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultEntry {
    /// The side.
    pub side: String,
    /// The host where it was measured; the first one of several.
    pub host: String,
    /// The kind of measurement.
    pub kind: Source,
    /// The entry in `result.json`.
    pub detail: Arc<Value>,
}

/// Results that are missing. A missing result is an error, unless the run was interrupted.
#[derive(Debug)]
pub(crate) struct Gaps {
    is_allowed: bool,
    pub doubts: Vec<Doubt>,
}

impl Gaps {
    /// Tolerates missing results if the run was interrupted.
    pub(crate) fn of(partial: Option<Partial>) -> Self {
        Self { is_allowed: partial.is_some(), doubts: Vec::new() }
    }

    /// Returns the value, or notes that it is missing.
    pub(crate) fn tolerate<T>(&mut self, what: &str, read: Result<T, Error>) -> Result<Option<T>, Error> {
        match read {
            Err(error) if self.is_allowed => {
                self.doubts.push(Doubt::NoResult { what: what.to_owned(), why: error.to_string() });
                Ok(None)
            }
            other => other.map(Some),
        }
    }
}

/// How long a measurement takes if the file does not set it.
pub(crate) fn default_duration() -> Duration {
    Duration::from_secs(30)
}
