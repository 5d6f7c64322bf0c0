//! `longhaul edge run`: runs one data centre.

use std::{net::SocketAddr, os::fd::OwnedFd, path::PathBuf, process::ExitCode};

use anyhow::{Context, anyhow, bail};
use clap::Args;
use edge::{Config, Event, Network, Ready, Sockets, network::DataCentre};
use http::{Stop, client::Trust, server::End};
use listenfd::ListenFd;
use units::Bytes;

use super::check::warn;
use crate::{
    interrupt::{self, Interrupt},
    output::say,
};

/// Run a data centre: a cache in front of the origins of a network's file
///
/// SIGHUP reloads the file and all files that it names, and lists the settings that need a restart; an
/// invalid file changes nothing. Ctrl-C or SIGTERM finishes the requests in flight; a second one aborts them.
///
/// Example: longhaul edge run network.toml --data-centre lhr
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The network's file
    network: PathBuf,
    /// The data centre to run; not needed if the file has only one
    #[arg(long, value_name = "NAME")]
    data_centre: Option<String>,
    /// Listen here, in clear text, instead of the addresses in the file; may be given several times
    #[arg(long, value_name = "ADDRESS")]
    listen: Vec<SocketAddr>,
    /// Operator's address instead of the one in the file
    #[arg(long, value_name = "ADDRESS")]
    admin: Option<SocketAddr>,
    /// Memory for stored objects, instead of the limit in the file
    #[arg(long, value_name = "SIZE")]
    memory: Option<Bytes>,
    /// Write the access log to this file instead of the one in the network's file; longhaul compare reads it
    #[arg(long, value_name = "FILE")]
    access_log: Option<PathBuf>,
    /// Replace the running process through its `handover` socket: it finishes its requests in flight and
    /// exits, and no connection is refused meanwhile. Starts as usual if no process runs
    #[arg(long)]
    take_over: bool,
    /// Trust only origins whose certificates are in this file or signed by one of them (PEM)
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
}

impl Run {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let network = Network::open(&self.network)?;
        let data_centre = self.chosen(&network)?;
        warn(&network, &data_centre);
        let trust = self.ca.map_or(Trust::System, Trust::File);
        if self.take_over && data_centre.handover.is_none() {
            bail!(
                "data centre \"{}\" has no handover = PATH, where it could be taken over",
                data_centre.name
            );
        }
        let sockets =
            Sockets::among(given()).context("a socket that was passed to this process cannot be used")?;
        let config = Config { path: self.network, data_centre, trust, takes_over: self.take_over, sockets };
        let stop = Stop::new();
        Interrupt::listen_but_not_for_hangups()?.ask(&stop);
        let end = edge::run(network, config, announce, tell, &stop)?;
        Ok(if end == End::Complete { ExitCode::SUCCESS } else { interrupt::exit_code() })
    }

    /// The selected data centre, with the options of the command line applied.
    fn chosen(&self, network: &Network) -> anyhow::Result<DataCentre> {
        let found = match (&self.data_centre, &network.data_centres[..]) {
            (Some(name), _) => {
                network.data_centre(name).map_err(|why| anyhow!("{}: {why}", self.network.display()))?
            }
            (None, [only]) => only,
            (None, several) => {
                let names: Vec<_> = several.iter().map(|centre| centre.name.as_str()).collect();
                bail!("select one of {} with --data-centre", names.join(", "));
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

/// Listening sockets of a systemd socket unit (LISTEN_FDS).
fn given() -> Vec<OwnedFd> {
    let mut given = ListenFd::from_env();
    let count = given.len();
    let one = |number| {
        let tcp = given.take_tcp_listener(number).ok().flatten().map(OwnedFd::from);
        tcp.or_else(|| given.take_udp_socket(number).ok().flatten().map(OwnedFd::from))
    };
    (0..count).filter_map(one).collect()
}

fn tell(event: Event) {
    match event {
        Event::Reloaded { not_taken } => {
            say("the network's file was reloaded");
            not_taken.iter().for_each(|sentence| say(&format!("not taken: {sentence}")));
        }
        Event::NotReloaded(error) => say(&format!("the network is unchanged: {error}")),
        Event::Replaced => {
            say("another process has taken over; this one finishes its requests in flight");
        }
        Event::NotReplaced(error) => {
            say(&format!("no other process took over: {:#}", anyhow!(error)));
        }
    }
}

fn announce(ready: &Ready) {
    if ready.took_over {
        say("took over from the running process");
    }
    if let Some(address) = ready.admin {
        say(&format!("operator at http://{address}/status"));
    }
    for (scheme, addresses) in [("https", &ready.tls), ("http", &ready.clear)] {
        for address in addresses {
            say(&format!("listening on {scheme}://{address}/"));
        }
    }
    for (scheme, addresses) in [("https", &ready.kv_tls), ("http", &ready.kv)] {
        for address in addresses {
            say(&format!("keys and values at {scheme}://{address}/"));
        }
    }
    for address in &ready.links {
        say(&format!("other data centres at {address}"));
    }
}
