//! A child process in a host: started, watched, and its output kept in a file.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
};

use crate::error::Error;

/// What is to be started.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Job {
    /// Where.
    pub host: String,
    /// The program and its arguments; "longhaul" is this program.
    pub command: Vec<String>,
    /// Where its output goes.
    pub log: PathBuf,
    /// Where its standard output goes instead.
    pub result: Option<PathBuf>,
}

/// A process that was started in a host. Dropping it ends it.
pub(crate) struct Process {
    /// What it is, for messages: "longhaul serve in swift".
    pub what: String,
    /// Where it runs.
    pub host: String,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts a job on a planet.
    pub(crate) fn start(longhaul: &Path, planet: &str, job: Job) -> Result<Self, Error> {
        let Job { host, command, log, result } = job;
        let errors = create(&log)?;
        let output = match &result {
            Some(result) => create(result)?,
            None => errors.try_clone().map_err(|source| Error::Access { path: log.clone(), source })?,
        };
        let what =
            format!("{} in {host}", command.iter().take(2).map(String::as_str).collect::<Vec<_>>().join(" "));
        let program = if command[0] == "longhaul" { longhaul.as_os_str() } else { command[0].as_ref() };
        let child = Command::new(longhaul)
            .args(["lab", "exec", "--planet", planet, &host, "--"])
            .arg(program)
            .args(&command[1..])
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .spawn()
            .map_err(|source| Error::Start { what: what.clone(), source })?;
        Ok(Self { what, host, child, log })
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Result<Option<ExitStatus>, Error> {
        self.child.try_wait().map_err(|source| Error::Start { what: self.what.clone(), source })
    }

    /// The error that its end is.
    pub(crate) fn died(&self, status: ExitStatus) -> Error {
        Error::Ended { what: self.what.clone(), how: status.to_string(), last_words: self.last_words() }
    }

    /// The end of its output, on lines of their own.
    pub(crate) fn last_words(&self) -> String {
        let text =
            fs::read(&self.log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        let lines: Vec<_> = text.lines().collect();
        let last = &lines[lines.len().saturating_sub(LAST_LINES)..];
        last.iter().map(|line| format!("\n  | {line}")).collect()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The program dies with it, and what that left in the background with the planet. It may have ended by itself.
        let _: io::Result<()> = self.child.kill();
        let _ = self.child.wait();
    }
}

fn create(path: &Path) -> Result<File, Error> {
    File::create(path).map_err(|source| Error::Access { path: path.to_owned(), source })
}

/// Enough for a message and its cause.
const LAST_LINES: usize = 8;
