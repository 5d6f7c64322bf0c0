//! `longhaul edge check`: whether a network's file can be used.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;
use edge::{Network, network::DataCentre};
use units::show::plural;

use crate::output::{self, say};

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
        let network = Network::open(&self.network)?;
        network.data_centres.iter().for_each(|centre| warn(&network, centre));
        let checked = network.checked();
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
        for namespace in &checked.namespaces {
            text += &format!("namespace {}: id {}\n", namespace.name, namespace.id);
        }
        output::print(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Says what visitors of a data centre will say against its certificate.
pub(super) fn warn(network: &Network, centre: &DataCentre) {
    for objection in network.objections(centre) {
        say(&format!("{} {objection}", output::paint("warning:", output::YELLOW)));
    }
}
