//! The folder of a sweep: the scenarios, what came of them, and which of that still counts.
//!
//! `cells/NAME.toml` is a run's scenario, `cells/NAME/` what it wrote, and `cells/NAME/cell.json` its result. That appears
//! whole and last, so a run that was killed has none.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use scenario::Error;

use super::{
    cell::Run,
    record::{Inputs, Record},
};

/// The folder.
#[derive(Debug)]
pub(super) struct Store {
    cells: PathBuf,
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

    /// Forgets a result that is measured anew, so that the old one is not taken for it.
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

#[cfg(test)]
mod tests;
