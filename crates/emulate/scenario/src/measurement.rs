//! Common parts of all kinds of measurement: their interface for the runner, and the form of their
//! results.

use std::{sync::Arc, time::Duration};

use claim::{Claim, Doubt, Evidence, Source};
use recording::Metric;
use report::{FaultMark, Partial, SideInput, figures::Figures};
use serde_json::Value;
use toml::Spanned;
use units::Bytes;
use world::Layout;

use crate::{emulator::Emulator, error::Error, folder::Folder, program::Job};

pub(crate) trait Measures {
    fn side(&self) -> &str;

    fn hosts(&self) -> Vec<&str>;

    fn after(&self) -> Option<&Spanned<String>> {
        None
    }

    fn lasts(&self) -> Duration;

    fn spread(&self) -> Option<Duration> {
        None
    }

    fn task(&self, folder: &Folder<'_>, delay: Duration, log_limit: Bytes) -> Task;
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Task {
    pub side: String,
    pub after: Option<String>,
    pub job: Job,
    pub codes: Vec<u8>,
    pub timeout: Option<Duration>,
}

impl Task {
    /// Exit code 1 means a bad result, which contains the reason.
    pub(crate) fn ours(side: &str, job: Job) -> Self {
        Self { side: side.to_owned(), after: None, job, codes: vec![0, 1], timeout: None }
    }
}

pub(crate) struct Inputs<'r> {
    pub folder: &'r Folder<'r>,
    pub metric: Metric,
    pub claims: &'r [Claim],
    pub faults: &'r [FaultMark],
    pub layout: &'r Layout,
    pub emulator: &'r Emulator,
    pub partial: Option<Partial>,
}

#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub sides: Vec<SideInput>,
    pub measured: Vec<ResultEntry>,
    pub evidence: Vec<(String, Evidence)>,
    pub figures: Option<Figures>,
    pub start: Option<String>,
    pub conditions: Vec<(String, String)>,
    pub doubts: Vec<Doubt>,
}

/// The result of a measurement, or of all measurements of a side.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultEntry {
    /// The side.
    pub side: String,
    /// The host of the measurement; the first one of several.
    pub host: String,
    /// The kind of measurement.
    pub kind: Source,
    /// The entry in `result.json`.
    pub detail: Arc<Value>,
}

/// A missing result is an error, unless the run was interrupted.
#[derive(Debug)]
pub(crate) struct Gaps {
    is_allowed: bool,
    pub doubts: Vec<Doubt>,
}

impl Gaps {
    pub(crate) fn of(partial: Option<Partial>) -> Self {
        Self { is_allowed: partial.is_some(), doubts: Vec::new() }
    }

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

pub(crate) fn default_duration() -> Duration {
    Duration::from_secs(30)
}
