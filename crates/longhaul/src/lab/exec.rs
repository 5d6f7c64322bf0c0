//! `longhaul lab exec`: a program in a host.

use std::{ffi::OsString, process::ExitCode};

use clap::Args;
use planet::Planet;

/// Run a program in a host, with its exit code passed on
///
/// Hosts reach each other by name.
///
/// Example: longhaul lab exec visitor -- ping -c 3 origin
#[derive(Debug, Args)]
pub(crate) struct Exec {
    /// The host
    host: String,
    /// The planet, if several are up
    #[arg(long)]
    planet: Option<String>,
    /// The program and its arguments
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

impl Exec {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        Ok(Planet::find(self.planet.as_deref())?.run_in(&self.host, &self.command)?)
    }
}
