//! `longhaul lab down`: stops planets.

use std::process::ExitCode;

use clap::Args;
use planet::{Planet, cli_documents};

use super::Which;
use crate::output::{self, say};

/// Stop a planet and everything that runs in it
///
/// If several planets are up, the planet must be named, here or in LONGHAUL_PLANET.
///
/// Example: longhaul lab down
#[derive(Debug, Args)]
pub(crate) struct Down {
    #[command(flatten)]
    which: Which,
    /// Stop all of this user's planets
    #[arg(long, conflicts_with = "planet")]
    all: bool,
    /// Print the stopped planets as JSON
    #[arg(long)]
    json: bool,
}

impl Down {
    pub(super) fn is_for_all(&self) -> bool {
        self.all
    }

    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let names =
            if self.all { Planet::running()? } else { vec![self.which.find_for_good()?.name().to_owned()] };
        for name in &names {
            Planet::find(Some(name))?.down()?;
            say(&format!("planet \"{name}\" is gone"));
        }
        if self.json {
            output::print_json(&output::named(
                "longhaul.lab.down/1",
                cli_documents::Down { planets: names },
            ))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
