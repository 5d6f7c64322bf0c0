//! `longhaul edge run`: one data centre, until somebody ends it.

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
/// SIGHUP reads the file again, with all files that it names, and names the settings that take a restart; a mistake changes nothing.
/// Ctrl-C or SIGTERM finishes the requests in flight; a second one ends them.
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
    /// Take the place of the process that runs, at its `handover` socket: it finishes its requests in flight and ends, and no connection is
    /// refused meanwhile. Starts as usual if none runs
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
            Sockets::among(given()).context("a socket that was given to this process cannot be used")?;
        let config = Config { path: self.network, data_centre, trust, takes_over: self.take_over, sockets };
        let stop = Stop::new();
        Interrupt::listen_but_not_for_hangups()?.ask(&stop);
        let end = edge::run(network, config, announce, tell, &stop)?;
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

/// Sockets that listen already: those of a systemd socket unit, by its protocol of LISTEN_FDS.
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
            say("the network's file was read again");
            not_taken.iter().for_each(|sentence| say(&format!("not taken: {sentence}")));
        }
        Event::NotReloaded(error) => say(&format!("the network stays as it was: {error}")),
        Event::Replaced => {
            say("another process serves in place of this one, which finishes what is in flight");
        }
        Event::NotReplaced(error) => {
            say(&format!("no other process took this one's place: {:#}", anyhow!(error)));
        }
    }
}

fn announce(ready: &Ready) {
    if ready.took_over {
        say("took the place of the process that ran");
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
