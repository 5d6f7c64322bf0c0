//! The folder of a run: the paths of the files in it, and command lines that contain its path.

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

pub(crate) struct Folder<'f>(pub(crate) &'f Path);

impl Folder<'_> {
    pub(crate) fn logs(&self) -> PathBuf {
        self.0.join("logs")
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn text(&self, path: &Path) -> Result<String, Error> {
        fs::read_to_string(path).map_err(|source| Error::Access { path: path.to_owned(), source })
    }

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

    pub(crate) fn placed(&self, command: &[String]) -> Vec<String> {
        let out = absolute(self.0);
        command.iter().map(|word| word.replace(OUT, &out.to_string_lossy())).collect()
    }

    pub(crate) fn log(&self, name: &str) -> PathBuf {
        self.logs().join(format!("{name}.log"))
    }
}

pub(crate) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

pub(crate) fn some(names: &[&str]) -> String {
    let shown = names[..names.len().min(FEW)].join(", ");
    if names.len() > FEW { format!("{shown} and {} more", names.len() - FEW) } else { shown }
}

/// ", after old", or nothing.
pub(crate) fn turn(after: Option<&Spanned<String>>) -> String {
    after.map_or_else(String::new, |side| format!(", after {}", side.get_ref()))
}

pub(crate) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// The folder of the scenario file, in arguments.
pub const DIR: &str = "{dir}";

/// Placeholder for the run's folder in the arguments of a program or a command.
pub const OUT: &str = "{out}";

const FEW: usize = 12;
