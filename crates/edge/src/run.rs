//! A data centre from its start to its end: sockets, a thread for each core, and what changes while it runs.

use std::{
    net::SocketAddr,
    num::NonZero,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use http::{Body, Request, Server, Stop, client::Trust, server::End};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::{mpsc, watch},
};

use crate::{
    Error, Network, admin,
    centre::Edge,
    clients::Clients,
    core::Core,
    doors::Doors,
    log::Log,
    network::DataCentre,
    on_disk::OnDisk,
    worker::{Worker, own_runtime},
};

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
    let centre = &config.data_centre;
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let clients = Clients::new(config.trust.clone())?;
    let (on_disk, noted) = centre.disk.as_ref().map(OnDisk::open).transpose()?.unzip();
    let log = centre.access_log.as_ref().map(|path| Log::open(path, &centre.name, cores)).transpose()?;
    let edge = Arc::new(Edge::new(centre.name.clone(), network, centre.memory, on_disk, log, cores));
    edge.store.resume(noted.unwrap_or_default());
    let mut doors = Doors::open(centre, cores)?;
    let runtime = own_runtime()?;
    let (operator, hangups) = {
        let _here = runtime.enter();
        let operator = centre.admin.map(|address| Server::listen(&[address])).transpose()?;
        (operator, signal(SignalKind::hangup()).map_err(Error::Runtime)?)
    };
    let (clear, tls) = doors.addresses();
    let admin = operator.as_ref().map(Server::addresses).transpose()?.and_then(|all| all.first().copied());
    let core = |number| Core::new(Arc::clone(&edge), number, clients.fresh());
    let workers: Vec<_> =
        (0..cores).map(|number| Worker::new(core(number), &mut doors)).collect::<Result<_, _>>()?;
    let (ended, mut ends) = mpsc::unbounded_channel();
    let (together, all_ended) = watch::channel(());
    let threads: Vec<_> = workers
        .into_iter()
        .map(|worker| {
            let (ended, all_ended, stop) = (ended.clone(), all_ended.clone(), stop.clone());
            thread::Builder::new().name("core".into()).spawn(move || worker.work(&stop, ended, all_ended))
        })
        .collect::<Result<_, _>>()
        .map_err(Error::Runtime)?;
    drop(ended);
    ready(&Ready { clear, tls, admin });
    let end = runtime.block_on(async {
        let reloading = tokio::spawn(reload(Arc::clone(&edge), config.path.clone(), hangups, reloaded));
        if let Some(operator) = operator {
            tokio::spawn(serve_operator(operator, Arc::clone(&edge), stop.clone()));
        }
        let mut end = End::Complete;
        while let Some(ended) = ends.recv().await {
            end = if ended == End::Cut { End::Cut } else { end };
        }
        reloading.abort();
        end
    });
    drop(together);
    for thread in threads {
        let _ = thread.join();
    }
    runtime.shutdown_background();
    if let Some(on_disk) = &edge.on_disk {
        on_disk.close();
    }
    if let Some(log) = &edge.log {
        log.close();
    }
    Ok(end)
}

async fn serve_operator(server: Server, edge: Arc<Edge>, stop: Stop) {
    let handler = move |request: Request<Body>| {
        let edge = Arc::clone(&edge);
        async move { Ok(admin::serve(&edge, request).await) }
    };
    server.serve(handler, &stop).await;
}

/// Reads the network's file at each hang-up; one with a mistake changes nothing.
async fn reload(edge: Arc<Edge>, path: PathBuf, mut hangups: Signal, reloaded: impl Fn(Result<(), Error>)) {
    while hangups.recv().await.is_some() {
        reloaded(read_again(&edge, &path));
    }
}

fn read_again(edge: &Edge, path: &Path) -> Result<(), Error> {
    // The log's file may have been moved away whatever the network's says.
    if let Some(log) = &edge.log {
        log.reopen();
    }
    edge.replace(Network::open(path)?);
    Ok(())
}
