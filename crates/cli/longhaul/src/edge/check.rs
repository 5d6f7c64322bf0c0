//! `longhaul edge check`: validates a network's file.

use std::{path::PathBuf, process::ExitCode};

use anyhow::anyhow;
use clap::Args;
use edge::{Network, Obstacle, Severity, config::DataCentre, obstacles};
use units::show::plural;

use crate::output::{self, say};

/// Check a network's file and print a summary
///
/// Warns of certificates, keys, directories and addresses that cannot be used on this machine. With
/// --data-centre, problems that would stop `edge run` are errors.
///
/// Example: longhaul edge check network.toml --data-centre lhr
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The network's file
    network: PathBuf,
    /// Fail if this data centre could not start on this machine
    #[arg(long, value_name = "NAME")]
    data_centre: Option<String>,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

impl Check {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let network = Network::open(&self.network)?;
        let chosen = self.data_centre.as_deref().map(|name| network.data_centre(name)).transpose();
        let chosen = chosen.map_err(|why| anyhow!("{}: {why}", self.network.display()))?;
        if let Some(centre) = chosen {
            let stops = self.inspect(&network, centre, Severity::Fatal)?;
            if let Some(code) = stops {
                return Ok(code);
            }
        }
        for centre in network.data_centres.iter().filter(|_| chosen.is_none()) {
            self.inspect(&network, centre, Severity::Note)?;
        }
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

    /// Fatal obstacles are errors if `most` allows; then the exit code is returned.
    fn inspect(
        &self,
        network: &Network,
        centre: &DataCentre,
        most: Severity,
    ) -> anyhow::Result<Option<ExitCode>> {
        let (mut code, mut has_identity) = (None, true);
        // Several data centres run on several machines: notes about local addresses do not apply.
        let has_notes = self.data_centre.is_some() || network.data_centres.len() == 1;
        for Obstacle { place, severity, error } in obstacles(&self.network, network, centre)? {
            if severity == Severity::Note && !has_notes {
                continue;
            }
            has_identity &= !matches!(error, edge::Error::Http(http_stack::Error::Identity { .. }));
            let place = place.map_or_else(String::new, |place| format!("{place}: "));
            let context = format!("{place}data centre {}", centre.name);
            let error = anyhow!(error).context(context);
            if severity == Severity::Fatal && most == Severity::Fatal {
                code = Some(output::fail(&error));
            } else {
                say(&format!("{} {error:#}", output::paint("warning:", output::YELLOW)));
            }
        }
        if has_identity {
            warn(network, centre);
        }
        Ok(code)
    }
}

pub(super) fn warn(network: &Network, centre: &DataCentre) {
    for objection in network.objections(centre) {
        say(&format!("{} {objection}", output::paint("warning:", output::YELLOW)));
    }
}
