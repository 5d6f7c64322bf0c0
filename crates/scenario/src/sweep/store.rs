//! The folder of a sweep: the scenarios, what came of them, and which of that still counts.
//!
//! `cells/NAME.toml` is a run's scenario, `cells/NAME/` what it wrote, and `cells/NAME/cell.json` its result. That appears
//! whole and last, so a run that was killed has none.

// circle: what is read again is a result, and a result keeps the record of what was stored.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use planet::Fidelity;
use serde::{Deserialize, Serialize};
use traffic::oscil::Programme;

use super::{cell::Run, machine::Machine, result::Read};
use crate::error::Error;

/// The result of a run, and what it is the result of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    schema: String,
    /// What it was made from.
    inputs: Inputs,
    /// What the reader says.
    pub read: Read,
    /// How faithful the planet was.
    pub fidelity: Fidelity,
}

/// All that a result follows from, but for chance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Inputs {
    scenario: String,
    /// The reader's programme, with all its phases.
    programme: Programme,
    kernel: String,
    longhaul: String,
}

/// The folder.
#[derive(Debug)]
pub(super) struct Store {
    cells: PathBuf,
}

impl Record {
    pub(super) fn new(inputs: Inputs, read: Read, fidelity: Fidelity) -> Self {
        Self { schema: SCHEMA.to_owned(), inputs, read, fidelity }
    }

    /// Whether neither the planet nor the reader were the bottleneck.
    pub(super) fn is_valid(&self) -> bool {
        self.fidelity.valid && self.read.reasons.is_empty()
    }

    /// Whether it spares a run: it is valid, and was made from the same.
    fn answers(&self, inputs: &Inputs) -> bool {
        self.schema == SCHEMA && self.is_valid() && self.inputs == *inputs
    }
}

impl Inputs {
    pub(super) fn of(run: &Run, machine: &Machine) -> Self {
        Self {
            scenario: run.scenario.clone(),
            programme: run.programme.clone(),
            kernel: machine.kernel.to_string(),
            longhaul: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

impl Store {
    /// In a folder that may not be there yet.
    pub(super) fn of(out: &Path) -> Self {
        Self { cells: out.join("cells") }
    }

    /// Makes the folder if it is not there.
    pub(super) fn create(&self) -> Result<(), Error> {
        fs::create_dir_all(&self.cells).map_err(at(&self.cells))
    }

    /// Where a run writes.
    pub(super) fn folder(&self, run: &Run) -> PathBuf {
        self.cells.join(&run.name)
    }

    /// Writes a run's scenario; its path.
    pub(super) fn scenario(&self, run: &Run) -> Result<PathBuf, Error> {
        let path = self.cells.join(format!("{}.toml", run.name));
        replace(&path, &run.scenario)?;
        Ok(path)
    }

    /// A result that was kept, if it spares this run. One that cannot be read does not.
    pub(super) fn kept(&self, run: &Run, inputs: &Inputs) -> Option<Record> {
        let text = fs::read_to_string(self.record(run)).ok()?;
        let record: Record = serde_json::from_str(&text).ok()?;
        record.answers(inputs).then_some(record)
    }

    /// Keeps the result of a run.
    pub(super) fn keep(&self, run: &Run, record: &Record) -> Result<(), Error> {
        let text = serde_json::to_string_pretty(record).expect("a record has no keys but texts");
        replace(&self.record(run), &(text + "\n"))
    }

    /// Forgets a result that is measured anew, so that nobody takes an old one for it.
    pub(super) fn forget(&self, run: &Run) -> Result<(), Error> {
        match fs::remove_file(self.record(run)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(&self.record(run))(error)),
            _ => Ok(()),
        }
    }

    fn record(&self, run: &Run) -> PathBuf {
        self.folder(run).join("cell.json")
    }
}

/// Writes a file that appears under its name only when it is whole, in place of one that was there.
pub fn replace(path: &Path, text: &str) -> Result<(), Error> {
    recording::write_whole(path, text.as_bytes()).map_err(at(path))
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> Error {
    move |source| Error::Access { path: path.to_owned(), source }
}

/// What the file of a result is.
const SCHEMA: &str = "longhaul.tcp.sweep.cell/1";

#[cfg(test)]
mod tests;
