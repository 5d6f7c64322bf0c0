//! A data centre from its start to its end: sockets, the runtime, and what changes while it runs.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
};

use http::{
    Body, Client, Request, Server, Stop,
    client::{self, Limits, Lookups, Trust},
    server::{End, Identity},
};
use tokio::{
    signal::unix::{SignalKind, signal},
    task::JoinSet,
};

use crate::{Error, Network, admin, centre::Edge, network::DataCentre, origins::Origins};

/// What one process is told, besides its network.
#[derive(Debug, Clone)]
pub struct Config {
    /// The network's file, which is read again at each SIGHUP.
    pub path: PathBuf,
    /// Which of its data centres this is.
    pub data_centre: DataCentre,
    /// Whose certificates origins may have.
    pub trust: Trust,
}

/// Where a data centre that is ready listens.
#[derive(Debug, Clone)]
pub struct Ready {
    /// In clear text.
    pub clear: Vec<SocketAddr>,
    /// Over TLS, and over QUIC on the UDP ports of the same numbers.
    pub tls: Vec<SocketAddr>,
    /// For the operator.
    pub admin: Option<SocketAddr>,
}

/// Serves until asked to stop; requests in flight are finished then. Blocks; to be called outside of any tokio runtime, and with
/// SIGHUP not blocked: at each, the network's file is read again, and `reloaded` is told what came of it.
///
/// # Errors
/// When a socket cannot be opened, or a certificate not be read.
pub fn run(
    network: Network,
    config: &Config,
    ready: impl FnOnce(&Ready),
    reloaded: impl Fn(Result<(), Error>) + Send + 'static,
    stop: &Stop,
) -> Result<End, Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Error::Runtime)?;
    let ended = runtime.block_on(serve(network, config, ready, reloaded, stop));
    runtime.shutdown_background();
    ended
}

async fn serve(
    network: Network,
    config: &Config,
    ready: impl FnOnce(&Ready),
    reloaded: impl Fn(Result<(), Error>) + Send + 'static,
    stop: &Stop,
) -> Result<End, Error> {
    let centre = &config.data_centre;
    let client = Client::new(&client::Config {
        limits: Limits { connections: CONNECTIONS, waiting: WAITING, ..Limits::default() },
        lookups: Lookups::EachConnection,
        trust: config.trust.clone(),
        ..client::Config::default()
    })?;
    let edge = Arc::new(Edge::new(centre.name.clone(), network, centre.memory, Origins::new(client)));
    let mut servers = Vec::new();
    let (mut clear, mut tls, mut operators) = (Vec::new(), Vec::new(), None);
    if !centre.listen.is_empty() {
        let server = Server::listen(&centre.listen)?;
        clear = server.addresses()?;
        servers.push(server);
    }
    if let Some((certificate, key)) = centre.identity.as_ref().filter(|_| !centre.listen_tls.is_empty()) {
        let server = Server::listen(&centre.listen_tls)?.with_http3(&Identity::read(certificate, key)?)?;
        tls = server.addresses()?;
        servers.push(server);
    }
    let mut running = JoinSet::new();
    for server in servers {
        let (edge, stop) = (Arc::clone(&edge), stop.clone());
        running.spawn(async move {
            let handler = move |request: Request<Body>| {
                let edge = Arc::clone(&edge);
                async move { Ok(edge.serve(request).await) }
            };
            server.serve(handler, &stop).await
        });
    }
    if let Some(address) = centre.admin {
        let server = Server::listen(&[address])?;
        operators = server.addresses()?.first().copied();
        let (edge, stop) = (Arc::clone(&edge), stop.clone());
        running.spawn(async move {
            let handler = move |request: Request<Body>| {
                let edge = Arc::clone(&edge);
                async move { Ok(admin::serve(&edge, request).await) }
            };
            server.serve(handler, &stop).await
        });
    }
    let hangups = signal(SignalKind::hangup()).map_err(Error::Runtime)?;
    let reloading = tokio::spawn(reload(edge, config.path.clone(), hangups, reloaded));
    ready(&Ready { clear, tls, admin: operators });
    let ends = running.join_all().await;
    reloading.abort();
    Ok(if ends.contains(&End::Cut) { End::Cut } else { End::Complete })
}

/// Reads the network's file at each hang-up; one with a mistake changes nothing.
async fn reload(
    edge: Arc<Edge>,
    path: PathBuf,
    mut hangups: tokio::signal::unix::Signal,
    reloaded: impl Fn(Result<(), Error>),
) {
    while hangups.recv().await.is_some() {
        reloaded(read_again(&edge, &path));
    }
}

fn read_again(edge: &Edge, path: &Path) -> Result<(), Error> {
    edge.replace(Network::open(path)?);
    Ok(())
}

/// To one origin; each is a file of this process.
const CONNECTIONS: usize = 1024;
/// Requests that may wait for one of those: as many as visitors may have connections.
const WAITING: usize = 20_000;
