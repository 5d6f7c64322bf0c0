//! The folder of a run: where everything that it writes is, and command lines that know it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use toml::Spanned;
use units::Bytes;

use crate::{
    error::Error,
    program::{Job, Program},
};

/// Where a run's files are.
pub(crate) struct Folder<'f>(pub(crate) &'f Path);

impl Folder<'_> {
    /// Output of programs.
    pub(crate) fn logs(&self) -> PathBuf {
        self.0.join("logs")
    }

    /// What a measurement writes.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// What is in a file.
    pub(crate) fn text(&self, path: &Path) -> Result<String, Error> {
        fs::read_to_string(path).map_err(|source| Error::Access { path: path.to_owned(), source })
    }

    /// The jobs of programs, in their order.
    pub(crate) fn programs(&self, programs: &[Program], log_limit: Bytes) -> Vec<Job> {
        let job = |(index, program): (usize, &Program)| Job {
            host: program.host.clone(),
            command: self.placed(&program.command),
            log: self.log(&format!("{}-{}", program.host, index + 1)),
            log_limit,
            result: None,
        };
        programs.iter().enumerate().map(job).collect()
    }

    /// A command line that knows where this folder is.
    pub(crate) fn placed(&self, command: &[String]) -> Vec<String> {
        let out = std::path::absolute(self.0).unwrap_or_else(|_| self.0.to_owned());
        command.iter().map(|word| word.replace(OUT, &out.to_string_lossy())).collect()
    }

    /// The output of a job.
    pub(crate) fn log(&self, name: &str) -> PathBuf {
        self.logs().join(format!("{name}.log"))
    }
}

/// Names, the first few of many.
pub(crate) fn some(names: &[&str]) -> String {
    let shown = names[..names.len().min(FEW)].join(", ");
    if names.len() > FEW { format!("{shown} and {} more", names.len() - FEW) } else { shown }
}

/// ", after old".
pub(crate) fn turn(after: Option<&Spanned<String>>) -> String {
    after.map_or_else(String::new, |side| format!(", after {}", side.get_ref()))
}

/// A command line.
pub(crate) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// What stands for the run's folder in the arguments of a program or a command.
pub const OUT: &str = "{out}";

/// Hosts that are named.
const FEW: usize = 12;
