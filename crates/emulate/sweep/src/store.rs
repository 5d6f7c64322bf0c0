//! The folder of a sweep: scenarios and results.
//!
//! `cells/NAME.toml` is the scenario of a run, `cells/NAME/` its output, and `cells/NAME/cell.json`
//! its result, written last and atomically.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use scenario::Error;

use super::{
    cell::Run,
    record::{Inputs, Record},
};

#[derive(Debug)]
pub(super) struct Store {
    cells: PathBuf,
}

impl Store {
    pub(super) fn of(out: &Path) -> Self {
        Self { cells: out.join("cells") }
    }

    pub(super) fn create(&self) -> Result<(), Error> {
        fs::create_dir_all(&self.cells).map_err(at(&self.cells))
    }

    pub(super) fn folder(&self, run: &Run) -> PathBuf {
        self.cells.join(&run.name)
    }

    pub(super) fn scenario(&self, run: &Run) -> Result<PathBuf, Error> {
        let path = self.cells.join(format!("{}.toml", run.name));
        replace(&path, &run.scenario)?;
        Ok(path)
    }

    /// An unreadable result counts as missing.
    pub(super) fn kept(&self, run: &Run, inputs: &Inputs) -> Option<Record> {
        let text = fs::read_to_string(self.record(run)).ok()?;
        let record: Record = serde_json::from_str(&text).ok()?;
        record.answers(inputs).then_some(record)
    }

    pub(super) fn keep(&self, run: &Run, record: &Record) -> Result<(), Error> {
        let text = serde_json::to_string_pretty(record).expect("a record has no keys but texts");
        replace(&self.record(run), &(text + "\n"))
    }

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

/// Writes a file atomically, and replaces an existing one.
pub fn replace(path: &Path, text: &str) -> Result<(), Error> {
    recording::write_whole(path, text.as_bytes()).map_err(at(path))
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> Error {
    move |source| Error::Access { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests;
