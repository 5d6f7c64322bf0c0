//! `longhaul lab exec`: a program in a host.

use std::{ffi::OsString, process::ExitCode};

use clap::Args;
use planet::Planet;

use crate::output::say;

/// Run a program in a host, with its exit code passed on
///
/// Hosts reach each other by name.
///
/// Example: longhaul lab exec visitor -- ping -c 3 origin
#[derive(Debug, Args)]
pub(crate) struct Exec {
    /// The host
    host: String,
    /// Return when it runs; see its output and its end with `longhaul lab logs`
    #[arg(long)]
    detach: bool,
    /// The planet, if several are up
    #[arg(long)]
    planet: Option<String>,
    /// The program and its arguments
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

impl Exec {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let planet = Planet::find(self.planet.as_deref())?;
        if !self.detach {
            return Ok(planet.run_in(&self.host, &self.command)?);
        }
        let number = planet.start_in(&self.host, &self.command)?;
        let name = self.command[0].display();
        say(&format!("[{number}] {name} runs in {}     (longhaul lab logs {0} shows its output)", self.host));
        Ok(ExitCode::SUCCESS)
    }
}
