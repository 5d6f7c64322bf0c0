//! Programs in hosts, and their processes: started, watched, asked to end, with their output kept.

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

/// A program that runs in a host while the scenario measures.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// The host.
    pub host: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The TCP port on which it must listen before measuring starts.
    pub ready: Option<u16>,
}

/// A process to start.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Job {
    /// The host.
    pub host: String,
    /// The program and its arguments; "longhaul" is this program.
    pub command: Vec<String>,
    /// The file for its output.
    pub log: PathBuf,
    /// How much output is kept.
    pub log_limit: Bytes,
    /// Where its standard output goes instead, and the limit of that.
    pub result: Option<(PathBuf, Bytes)>,
}

/// A process that runs in a host. Dropping it ends it.
pub(crate) struct Process {
    /// Its name in messages: "longhaul serve in swift".
    pub what: String,
    /// The host.
    pub host: String,
    child: Child,
    log: Output,
    result: Option<Output>,
}

impl Process {
    /// Starts a job on a planet.
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
            // A Ctrl-C goes to the runner, which ends measurements before the programs that they measure.
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

    /// Its outputs.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = &Output> {
        [&self.log].into_iter().chain(&self.result)
    }

    /// Asks it to end (SIGTERM).
    pub(crate) fn ask(&self) {
        // It may have ended by itself; its pid stays its own until we wait for it.
        let _ = i32::try_from(self.child.id()).map(|id| kill(Pid::from_raw(id), Signal::SIGTERM));
    }

    /// Fails if it has printed more than its limit.
    pub(crate) fn check_result(&self) -> Result<(), Error> {
        match &self.result {
            Some(result) if result.is_too_much() => {
                Err(Error::TooMuch { what: self.what.clone(), limit: result.limit() })
            }
            _ => Ok(()),
        }
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Result<Option<ExitStatus>, Error> {
        self.child.try_wait().map_err(|source| Error::Start { what: self.what.clone(), source })
    }

    /// The error for its end.
    pub(crate) fn died(&self, status: ExitStatus) -> Error {
        Error::Ended { what: self.what.clone(), how: status.to_string(), last_words: self.last_words() }
    }

    /// The end of its output, each line on its own line.
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
        // The process dies here; its background children die with the planet. It may have ended by itself.
        let _: io::Result<()> = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Enough for a message and its cause.
const LAST_LINES: usize = 8;

/// As much of an endless line as a person reads.
const LAST_BYTES: usize = 4096;
