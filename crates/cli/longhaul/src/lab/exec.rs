//! `longhaul lab exec`: runs a program in a host.

use std::{
    ffi::OsString,
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;
use clap::Args;
use planet::cli_documents::Executed;

use super::Which;
use crate::output::{self, say};

/// Run a program in a host and return its exit code
///
/// Hosts reach each other by name. Standard output belongs to the program, so --json goes to standard
/// error, as its last line, or to a file.
///
/// Examples:
///   longhaul lab exec visitor -- ping -c 3 origin
///   longhaul lab exec visitor --json=ended.json -- curl -s http://origin/
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Exec {
    /// The host
    host: String,
    /// Return when the program runs; see its output and its end with `longhaul lab logs`
    #[arg(long)]
    detach: bool,
    #[command(flatten)]
    which: Which,
    /// Report the exit status as JSON: in the last line of standard error, or in a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    json: Option<Option<PathBuf>>,
    /// The program and its arguments
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

impl Exec {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let planet = self.which.find()?;
        let ended = self.ended()?;
        let executed = |number, exit_code| Executed {
            planet: planet.name().to_owned(),
            host: self.host.clone(),
            command: self.command.iter().map(|part| part.to_string_lossy().into_owned()).collect(),
            started: true,
            number,
            end: None,
            exit_code,
            ran_s: None,
        };
        if self.detach {
            let number = planet.start_in(&self.host, &self.command)?;
            let name = self.command[0].display();
            let flag = self.which.flag(&planet);
            say(&format!(
                "[{number}] {name} runs in {}     (longhaul lab logs {0}{flag} shows its output)",
                self.host
            ));
            match ended {
                Ended::Unasked => {}
                Ended::Error => {
                    output::print_json(&output::named("longhaul.lab.exec/1", executed(Some(number), 0)))?;
                }
                Ended::File(file, path) => write(file, &path, executed(Some(number), 0))?,
            }
            return Ok(ExitCode::SUCCESS);
        }
        let outcome = planet.run_in(&self.host, &self.command)?;
        let exit_code = outcome.exit_code();
        let executed = Executed {
            started: outcome.has_started,
            end: outcome.has_started.then_some(outcome.end),
            ran_s: outcome.has_started.then_some(outcome.ran.as_secs_f64()),
            ..executed(None, exit_code)
        };
        match ended {
            Ended::Unasked => {}
            Ended::Error => say(&serde_json::to_string(&output::named("longhaul.lab.exec/1", executed))?),
            Ended::File(file, path) => write(file, &path, executed)?,
        }
        Ok(ExitCode::from(exit_code))
    }

    /// Opens a file before this process enters the host's namespaces.
    fn ended(&self) -> anyhow::Result<Ended> {
        Ok(match &self.json {
            None => Ended::Unasked,
            Some(None) => Ended::Error,
            Some(Some(path)) => {
                let file =
                    File::create(path).with_context(|| format!("{}: cannot be written", path.display()))?;
                Ended::File(file, path.clone())
            }
        })
    }
}

enum Ended {
    Unasked,
    Error,
    File(File, PathBuf),
}

fn write(mut file: File, path: &Path, executed: Executed) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(&output::named("longhaul.lab.exec/1", executed))? + "\n";
    file.write_all(text.as_bytes()).with_context(|| format!("{}: cannot be written", path.display()))
}
