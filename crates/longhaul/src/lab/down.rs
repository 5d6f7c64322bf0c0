//! `longhaul lab down`: the end of planets.

use std::process::ExitCode;

use clap::Args;
use planet::{Planet, outcome};

use super::Which;
use crate::output::{self, say};

/// End a planet with everything that runs in it
///
/// Where several are up it ends the one that is named, here or by LONGHAUL_PLANET, and does not choose.
///
/// Example: longhaul lab down
#[derive(Debug, Args)]
pub(crate) struct Down {
    #[command(flatten)]
    which: Which,
    /// End all of this user's planets
    #[arg(long, conflicts_with = "planet")]
    all: bool,
    /// Print which planets were ended as JSON
    #[arg(long)]
    json: bool,
}

impl Down {
    /// Whether no planet is to be left.
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
            output::print_json(&output::named("longhaul.lab.down/1", outcome::Down { planets: names }))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
