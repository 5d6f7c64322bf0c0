//! `longhaul edge check`: whether a network's file can be used.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;
use edge::Network;
use units::show::plural;

use crate::output;

/// Check a network's file and say what it is about
///
/// Example: longhaul edge check network.toml
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The network's file
    network: PathBuf,
    /// Print what it says as JSON
    #[arg(long)]
    json: bool,
}

impl Check {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let checked = Network::open(&self.network)?.checked();
        if self.json {
            output::print_json(&output::named("longhaul.edge.check/1", checked))?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut text =
            format!("network {}: data centres {}\n", checked.name, checked.data_centres.join(", "));
        for zone in &checked.zones {
            let (hosts, origins) = (zone.hosts.join(", "), zone.origins.join(", "));
            text += &format!("zone {}: {hosts} from {origins}, {}\n", zone.name, plural(zone.rules, "rule"));
        }
        output::print(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}
