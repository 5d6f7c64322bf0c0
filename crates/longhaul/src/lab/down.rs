//! `longhaul lab down`: the end of planets.

use std::process::ExitCode;

use clap::Args;
use planet::Planet;

use crate::output::say;

/// End a planet with everything that runs in it
///
/// Example: longhaul lab down
#[derive(Debug, Args)]
pub(crate) struct Down {
    /// The planet, if several are up
    #[arg(long, conflicts_with = "all")]
    planet: Option<String>,
    /// End all of this user's planets
    #[arg(long)]
    all: bool,
}

impl Down {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let names = if self.all {
            Planet::running()?
        } else {
            vec![Planet::find(self.planet.as_deref())?.name().to_owned()]
        };
        for name in names {
            Planet::find(Some(&name))?.down()?;
            say(&format!("planet \"{name}\" is gone"));
        }
        Ok(ExitCode::SUCCESS)
    }
}
