//! Processes of programs in hosts: start, supervision, termination, and capture of the output.

use std::{
    io,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use units::Bytes;

use crate::{
    error::Error,
    output::{Keep, Output},
};

/// A program that runs in a host during the measurements.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// The host.
    pub host: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The TCP port on which it must listen before the measurements start.
    pub ready: Option<u16>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Job {
    pub host: String,
    pub command: Vec<String>,
    pub log: PathBuf,
    pub log_limit: Bytes,
    pub result: Option<(PathBuf, Bytes)>,
}

pub(crate) struct Process {
    pub what: String,
    pub host: String,
    child: Child,
    log: Output,
    result: Option<Output>,
}

impl Process {
    pub(crate) fn start(longhaul: &Path, planet: &str, job: Job) -> Result<Self, Error> {
        let Job { host, command, log, log_limit, result } = job;
        let what =
            format!("{} in {host}", command.iter().take(2).map(String::as_str).collect::<Vec<_>>().join(" "));
        let failed = |source| Error::Start { what: what.clone(), source };
        let (log, said, errors) = Output::create(&log, Keep::Ends(log_limit))?;
        let (result, printed, output) = match result {
            Some((path, limit)) => {
                let (result, printed, output) = Output::create(&path, Keep::Whole(limit))?;
                (Some(result), Some(printed), output)
            }
            None => (None, None, errors.try_clone().map_err(failed)?),
        };
        let program = if command[0] == "longhaul" { longhaul.as_os_str() } else { command[0].as_ref() };
        let child = Command::new(longhaul)
            .args(["lab", "exec", "--planet", planet, &host, "--"])
            .arg(program)
            .args(&command[1..])
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            // Only the runner receives Ctrl-C, and ends measurements before the programs that they
            // measure.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let process = Self { what: what.clone(), host, child, log, result };
        process.log.listen(said).map_err(failed)?;
        if let (Some(result), Some(printed)) = (&process.result, printed) {
            result.listen(printed).map_err(failed)?;
        }
        Ok(process)
    }

    pub(crate) fn outputs(&self) -> impl Iterator<Item = &Output> {
        [&self.log].into_iter().chain(&self.result)
    }

    pub(crate) fn ask(&self) {
        // The pid is not reused until we wait for it.
        let _ = i32::try_from(self.child.id()).map(|id| kill(Pid::from_raw(id), Signal::SIGTERM));
    }

    pub(crate) fn check_result(&self) -> Result<(), Error> {
        match &self.result {
            Some(result) if result.is_too_much() => {
                Err(Error::TooMuch { what: self.what.clone(), limit: result.limit() })
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn ended(&mut self) -> Result<Option<ExitStatus>, Error> {
        self.child.try_wait().map_err(|source| Error::Start { what: self.what.clone(), source })
    }

    pub(crate) fn died(&self, status: ExitStatus) -> Error {
        Error::Ended { what: self.what.clone(), how: status.to_string(), last_words: self.last_words() }
    }

    pub(crate) fn last_words(&self) -> String {
        let end = self.log.end(LAST_BYTES);
        let text = String::from_utf8_lossy(&end);
        let lines: Vec<_> = text.lines().collect();
        let last = &lines[lines.len().saturating_sub(LAST_LINES)..];
        last.iter().map(|line| format!("\n  | {line}")).collect()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Background children of the process are killed with the planet.
        let _: io::Result<()> = self.child.kill();
        let _ = self.child.wait();
    }
}

const LAST_LINES: usize = 8;

const LAST_BYTES: usize = 4096;
