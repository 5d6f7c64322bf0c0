//! `longhaul edge run`: one data centre, until somebody ends it.

use std::{net::SocketAddr, path::PathBuf, process::ExitCode};

use anyhow::{anyhow, bail};
use clap::Args;
use edge::{Config, Network, Ready, network::DataCentre};
use http::{Stop, client::Trust, server::End};
use units::Bytes;

use crate::{
    interrupt::{self, Interrupt},
    output::say,
};

/// Run a data centre: a cache in front of the origins of a network's file
///
/// SIGHUP reads the file again, apart from addresses, certificates and memory; one with a mistake changes nothing. Ctrl-C or SIGTERM
/// finishes the requests in flight; a second one ends them.
///
/// Example: longhaul edge run network.toml --data-centre lhr
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The network's file
    network: PathBuf,
    /// Which of its data centres this is; not needed if there is one
    #[arg(long, value_name = "NAME")]
    data_centre: Option<String>,
    /// Listen here, in clear text, instead of where the file says; may be given several times
    #[arg(long, value_name = "ADDRESS")]
    listen: Vec<SocketAddr>,
    /// Answer the operator here instead of where the file says
    #[arg(long, value_name = "ADDRESS")]
    admin: Option<SocketAddr>,
    /// Bytes that stored objects may have in memory, instead of what the file says
    #[arg(long, value_name = "SIZE")]
    memory: Option<Bytes>,
    /// Write the access log to this file instead of where the file says; longhaul compare reads it
    #[arg(long, value_name = "FILE")]
    access_log: Option<PathBuf>,
    /// Trust only origins whose certificates are in this file or signed by one of them (PEM)
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
}

impl Run {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let network = Network::open(&self.network)?;
        let data_centre = self.chosen(&network)?;
        let trust = self.ca.map_or(Trust::System, Trust::File);
        let config = Config { path: self.network, data_centre, trust };
        let stop = Stop::new();
        Interrupt::listen_but_not_for_hangups()?.ask(&stop);
        let reloaded = |outcome: Result<(), edge::Error>| match outcome {
            Ok(()) => say("the network's file was read again"),
            Err(error) => say(&format!("the network stays as it was: {error}")),
        };
        let end = edge::run(network, &config, announce, reloaded, &stop)?;
        Ok(if end == End::Complete { ExitCode::SUCCESS } else { interrupt::exit_code() })
    }

    /// The data centre that this is, with what the command line says of it.
    fn chosen(&self, network: &Network) -> anyhow::Result<DataCentre> {
        let found = match (&self.data_centre, &network.data_centres[..]) {
            (Some(name), _) => {
                network.data_centre(name).map_err(|why| anyhow!("{}: {why}", self.network.display()))?
            }
            (None, [only]) => only,
            (None, several) => {
                let names: Vec<_> = several.iter().map(|centre| centre.name.as_str()).collect();
                bail!("which of {} is this? --data-centre names it", names.join(", "));
            }
        };
        let mut centre = found.clone();
        if !self.listen.is_empty() {
            centre.listen.clone_from(&self.listen);
        }
        centre.admin = self.admin.or(centre.admin);
        centre.memory = self.memory.map_or(centre.memory, |memory| memory.0);
        centre.access_log = self.access_log.clone().or(centre.access_log);
        Ok(centre)
    }
}

fn announce(ready: &Ready) {
    if let Some(address) = ready.admin {
        say(&format!("operator at http://{address}/status"));
    }
    for (scheme, addresses) in [("https", &ready.tls), ("http", &ready.clear)] {
        for address in addresses {
            say(&format!("listening on {scheme}://{address}/"));
        }
    }
}
