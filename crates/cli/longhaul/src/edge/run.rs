//! `longhaul edge run`: runs one data centre.

use std::{
    io::{self, IsTerminal},
    net::{SocketAddr, TcpListener},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, anyhow, bail};
use clap::Args;
use config_file::Document;
use edge::{
    Config, Event, InheritedSockets, ListenAddresses, Network,
    config::{DataCentre, Starter},
};
use http_stack::{Origin, ShutdownSignal, client::Trust, server::End};
use listenfd::ListenFd;
use units::Bytes;

use super::{ADMIN, check::warn, no_duplicates, top};
use crate::{
    arg_conventions::listen,
    interrupt::{self, Interrupt},
    output::say,
    quick_build,
};

/// Run a data centre: a cache in front of the origins of a network's file, or of one origin
///
/// With --from and --to, no file is needed: objects are stored in memory, the
/// origin's header fields decide for how long, and the terminal shows the
/// requests. `longhaul edge init` writes a file for more.
///
/// SIGHUP reloads the file and all files that it names, and lists the settings
/// that need a restart; an invalid file changes nothing. Ctrl-C or SIGTERM
/// finishes the requests in flight; a second one aborts them.
///
/// Examples:
///   longhaul edge run --from :8080 --to http://127.0.0.1:8000
///   longhaul edge run network.toml --data-centre lhr
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    override_usage = "longhaul edge run [OPTIONS] <NETWORK>\n       longhaul edge run [OPTIONS] --from <[ADDRESS:]PORT> --to <URL>"
)]
pub(crate) struct Run {
    /// The network's file
    #[arg(required_unless_present_any = ["from", "to"], conflicts_with_all = ["from", "to"])]
    network: Option<PathBuf>,
    /// Without a file: listen here for clients; may be given several times
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = listen, requires = "to")]
    from: Vec<SocketAddr>,
    /// Without a file: the origin, such as http://127.0.0.1:8000; may be given several times, in order of
    /// preference
    #[arg(long, value_name = "URL", requires = "from")]
    to: Vec<Origin>,
    /// The data centre to run; not needed if the file has only one
    #[arg(long, value_name = "NAME", conflicts_with = "to")]
    data_centre: Option<String>,
    /// Listen here, in clear text, instead of the addresses in the file; may be given several times
    #[arg(long, value_name = "ADDRESS", conflicts_with = "to")]
    listen: Vec<SocketAddr>,
    /// Operator's address, instead of `admin` in the file
    #[arg(long, value_name = "ADDRESS")]
    admin: Option<SocketAddr>,
    /// Memory for stored objects, instead of the limit in the file
    #[arg(long, value_name = "SIZE")]
    memory: Option<Bytes>,
    /// Write the access log to this file (- for standard output), instead of `access_log` in the network's
    /// file; longhaul compare reads it
    #[arg(long, value_name = "FILE")]
    access_log: Option<PathBuf>,
    /// Replace the running process through its `handover` socket: it finishes its requests in flight and
    /// exits, and no connection is refused meanwhile. Starts as usual if no process runs
    #[arg(long, conflicts_with = "to")]
    take_over: bool,
    /// Trust only origins whose certificates are in this file or signed by one of them (PEM)
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
}

impl Run {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        no_duplicates(self.from.iter().chain(&self.admin))?;
        let network = match &self.network {
            Some(path) => Network::open(path)?,
            None => Network::read(&Document::new("--from and --to", self.starter().text()))?,
        };
        let data_centre = self.chosen(&network)?;
        warn(&network, &data_centre);
        let trust = self.ca.clone().map_or(Trust::System, Trust::File);
        if self.take_over && data_centre.handover.is_none() {
            bail!(
                "data centre \"{}\" has no handover = PATH, where it could be taken over",
                data_centre.name
            );
        }
        let sockets = InheritedSockets::from_descriptors(given())
            .context("a socket that was passed to this process cannot be used")?;
        let path = self.network.clone();
        let config = Config { path, data_centre, trust, takes_over: self.take_over, sockets };
        let stop = ShutdownSignal::new();
        Interrupt::listen_but_not_for_hangups()?.ask(&stop);
        let logs_to_terminal =
            config.data_centre.access_log.as_ref().is_some_and(|path| path.as_os_str() == "-")
                && io::stdout().is_terminal();
        let is_watched = self.network.is_none() && io::stderr().is_terminal() && !logs_to_terminal;
        let mut view = None;
        let ready = |ready: &ListenAddresses| {
            announce(ready);
            view = ready.admin.filter(|_| is_watched).map(top::show).transpose().ok().flatten();
        };
        let end = edge::run(network, config, ready, tell, &stop)?;
        drop(view);
        Ok(if end == End::Complete { ExitCode::SUCCESS } else { interrupt::exit_code() })
    }

    fn starter(&self) -> Starter {
        // The default of `longhaul edge status`, unless another data centre uses it.
        let is_free = TcpListener::bind(ADMIN).is_ok();
        Starter {
            from: self.from.clone(),
            to: self.to.clone(),
            hosts: vec!["*".to_owned()],
            admin: if is_free { ADMIN } else { SocketAddr::new(ADMIN.ip(), 0) },
            token_hash: None,
            disk: None,
            kv: None,
        }
    }

    fn chosen(&self, network: &Network) -> anyhow::Result<DataCentre> {
        let found = match (&self.data_centre, &network.data_centres[..]) {
            (Some(name), _) => {
                let path = self.network.as_deref().unwrap_or(Path::new("-"));
                network.data_centre(name).map_err(|why| anyhow!("{}: {why}", path.display()))?
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

/// LISTEN_FDS of systemd.
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
        Event::Certificate(sentence) => say(&sentence),
        Event::Replaced => {
            say("another process has taken over; this one finishes its requests in flight");
        }
        Event::NotReplaced(error) => {
            say(&format!("no other process took over: {:#}", anyhow!(error)));
        }
    }
}

fn announce(ready: &ListenAddresses) {
    quick_build::print_note();
    if ready.has_taken_over {
        say("took over from the running process");
    }
    if let Some(address) = ready.admin {
        say(&format!("operator at http://{address}/status"));
    }
    for (scheme, addresses) in [("https", &ready.tls), ("http", &ready.plain)] {
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
