//! The life cycle of a data centre: sockets, a thread per worker, reloads, and handover to a
//! successor.

use std::{
    mem,
    net::{SocketAddr, TcpListener},
    num::NonZero,
    os::fd::OwnedFd,
    path::PathBuf,
    sync::Arc,
    thread,
};

use http_stack::{
    Body, Request, Server, ShutdownSignal,
    client::Trust,
    server::{End, listen},
};
use kv_nats::Journal;
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::{mpsc, watch},
};

use crate::{
    Error, Network,
    admin::server,
    config::DataCentre,
    peers::Peers,
    purge::nats::journal_of,
    server::{
        hot_restart::{HandoverChannel, HotRestart},
        inherited_sockets::InheritedSockets,
        kv,
        listeners::Listeners,
        node::Node,
        reload::{Reloader, reload},
        tls::{acme::renewal::renew, certificates::Certificates, watch::watch},
        worker::{WorkerThread, own_runtime},
        worker_state::WorkerState,
    },
    store::disk::DiskTier,
    telemetry::{access_log::AccessLog, traces::Exporter},
    upstream::connectors::Connectors,
};

/// The configuration of a process, in addition to the network file.
#[derive(Debug)]
pub struct Config {
    /// The network file, which is read again at each SIGHUP. `None` without a file.
    pub path: Option<PathBuf>,
    /// The data centre of the network that this process runs.
    pub data_centre: DataCentre,
    /// The authorities that are trusted for origins.
    pub trust: Trust,
    /// Whether to replace the running process, if there is one.
    pub takes_over: bool,
    /// Inherited listening sockets.
    pub sockets: InheritedSockets,
}

/// The addresses of a data centre that is ready.
#[derive(Debug, Clone)]
pub struct ListenAddresses {
    /// Without TLS.
    pub plain: Vec<SocketAddr>,
    /// With TLS, and over QUIC on UDP ports of the same numbers.
    pub tls: Vec<SocketAddr>,
    /// For peers.
    pub links: Vec<SocketAddr>,
    /// For clients of the KV store, without TLS.
    pub kv: Vec<SocketAddr>,
    /// For clients of the KV store, with TLS.
    pub kv_tls: Vec<SocketAddr>,
    /// For the operator.
    pub admin: Option<SocketAddr>,
    /// Whether it replaced a running process.
    pub has_taken_over: bool,
}

/// An event of a running data centre.
#[derive(Debug)]
pub enum Event {
    /// The network file was reloaded.
    Reloaded {
        /// A sentence for each changed setting that requires a restart.
        not_taken: Vec<String>,
    },
    /// The network file is invalid; the old one stays in effect.
    NotReloaded(Error),
    /// A sentence about a certificate: it was replaced, cannot be used, or expires soon.
    Certificate(String),
    /// Another process serves instead. This process exits when its requests in flight are finished.
    Replaced,
    /// Another process failed to replace this process.
    NotReplaced(Error),
}

/// Serves until a stop is requested, then finishes requests in flight. Blocks. Must be called
/// outside any tokio runtime, with SIGHUP not blocked: each SIGHUP reloads the network file.
///
/// # Errors
///
/// If a socket cannot be opened, a certificate cannot be read, or the running process cannot be
/// replaced.
pub fn run(
    network: Network,
    mut config: Config,
    ready: impl FnOnce(&ListenAddresses),
    tell: impl Fn(Event) + Clone + Send + Sync + 'static,
    stop: &ShutdownSignal,
) -> Result<End, Error> {
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let Prepared {
        clients,
        peers,
        journal,
        certificates,
        mut listeners,
        operator,
        copies,
        log,
        mut handover,
    } = Prepared::new(&network, &mut config, workers)?;
    let took_over = handover.has_predecessor();
    handover.release_disk()?;
    let centre = config.data_centre;
    let (disk, recovered) = centre.disk.as_ref().map(DiskTier::open).transpose()?.unzip();
    let name = network.name.clone();
    let started_as = network.data_centre(&centre.name).ok().cloned();
    let node = Node::new(centre.name, network, centre.memory, disk, log, workers);
    node.set_peers(peers.clone());
    let kv = kv::open(&node.network(), &node.data_centre, node.peers_handle())?;
    let node = node
        .with_per_address(listeners.per_address())
        .with_handshakes(listeners.handshakes())
        .with_certificates(certificates)
        .with_kv(kv);
    let node = Arc::new(node);
    node.resume(recovered.unwrap_or_default());
    let runtime = own_runtime()?;
    let (operator, hangups) = {
        let _here = runtime.enter();
        let operator = operator.map(|socket| Server::on(vec![socket])).transpose()?;
        (operator, signal(SignalKind::hangup()).map_err(Error::Runtime)?)
    };
    let ((clear, tls), links) = (listeners.addresses(), listeners.link_addresses());
    let (kv, kv_tls) = listeners.kv_addresses();
    let admin = operator.as_ref().map(Server::addresses).transpose()?.and_then(|all| all.first().copied());
    let core = |number| WorkerState::new(Arc::clone(&node), number, clients.with_own_connections());
    let serves_links = peers.is_some();
    let member = peers.as_ref().map(|peers| &peers.membership);
    let workers: Vec<_> = (0..workers)
        .map(|number| WorkerThread::new(core(number), &mut listeners, member))
        .collect::<Result<_, _>>()?;
    {
        let _here = runtime.enter();
        node.start_peers(peers);
        node.join_nats(journal);
        node.origins.pools.start_checks(clients.requests.fresh(), &node.network());
    }
    let sender = Exporter::new(Arc::clone(&node.traces), clients.requests.fresh(), &name, &node.data_centre);
    let (over, is_over) = watch::channel(());
    let (ended, mut ends) = mpsc::unbounded_channel();
    let (together, all_ended) = watch::channel(());
    let alone = handover.take_over()?;
    let threads: Vec<_> = workers
        .into_iter()
        .map(|worker| {
            let (ended, all_ended) = (ended.clone(), all_ended.clone());
            let (alone, stop) = (alone.clone(), stop.clone());
            let work = move || worker.work(&stop, alone, ended, all_ended);
            thread::Builder::new().name("core".into()).spawn(work)
        })
        .collect::<Result<_, _>>()
        .map_err(Error::Runtime)?;
    drop(ended);
    ready(&ListenAddresses { plain: clear, tls, links, kv, kv_tls, admin, has_taken_over: took_over });
    let sending = runtime.spawn(sender.run(is_over));
    let (end, successor) = runtime.block_on(async {
        let reloader = Reloader { path: config.path, started_as, serves_links };
        let told = tell.clone();
        let reloaded = move |result: Result<_, _>| {
            told(result.map_or_else(Event::NotReloaded, |not_taken| Event::Reloaded { not_taken }));
        };
        let reloading = tokio::spawn(reload(Arc::clone(&node), reloader, hangups, reloaded));
        let certificate_told = {
            let tell = tell.clone();
            move |sentence| tell(Event::Certificate(sentence))
        };
        tokio::spawn(watch(Arc::clone(&node.certificates), certificate_told.clone()));
        tokio::spawn(renew(Arc::clone(&node), certificate_told));
        if let Some(kv) = node.kv.clone() {
            tokio::spawn(async move { kv.sweep().await });
        }
        if let Some(operator) = operator {
            tokio::spawn(serve_operator(operator, Arc::clone(&node), stop.clone()));
        }
        let successor =
            tokio::spawn(wait_for_successor(handover, Arc::clone(&node), copies, tell, stop.clone()));
        let mut end = End::Complete;
        while let Some(ended) = ends.recv().await {
            end = if ended == End::Cut { End::Cut } else { end };
        }
        reloading.abort();
        (end, successor.await.ok().flatten())
    });
    drop(together);
    for thread in threads {
        let _ = thread.join();
    }
    // All requests have ended, so no more spans follow.
    drop(over);
    let _ = runtime.block_on(sending);
    runtime.shutdown_background();
    if let Some(disk) = &node.disk {
        disk.close();
    }
    if let Some(log) = &node.access_log {
        log.close();
    }
    if let Some(kv) = &node.kv {
        kv.release();
    }
    // The successor treats this process as exited only from here on.
    drop(successor);
    Ok(end)
}

/// Everything that can fail before a running process releases any resource.
struct Prepared {
    clients: Connectors,
    peers: Option<Arc<Peers>>,
    journal: Option<Journal>,
    certificates: Arc<Certificates>,
    listeners: Listeners,
    operator: Option<TcpListener>,
    copies: Vec<OwnedFd>,
    log: Option<AccessLog>,
    handover: HotRestart,
}

impl Prepared {
    fn new(network: &Network, config: &mut Config, workers: usize) -> Result<Self, Error> {
        network.require_secrets()?;
        let centre = &config.data_centre;
        let clients = Connectors::new(config.trust.clone())?;
        let peers = Peers::new(network, &centre.name, workers, None)?;
        let journal = journal_of(network, &centre.name)?;
        let certificates = Arc::new(Certificates::open(network, centre)?);
        let (handover, sockets) = HotRestart::connect(centre, config.takes_over)?;
        let mut inherited = sockets.unwrap_or_else(|| mem::take(&mut config.sockets));
        let listeners = Listeners::open(centre, workers, &mut inherited, certificates.identity())?;
        let operator = match centre.admin {
            None => None,
            Some(address) => match inherited.take_tcp(address).pop() {
                Some(socket) => Some(socket),
                None => listen(&[address])?.pop(),
            },
        };
        let copies = if centre.handover.is_some() {
            listeners.duplicate_all(operator.as_ref())
        } else {
            Ok(Vec::new())
        };
        let copies = copies.map_err(Error::Inherited)?;
        let log = centre
            .access_log
            .as_ref()
            .map(|path| AccessLog::open(path, centre.access_log_format, &centre.name, workers))
            .transpose()?;
        Ok(Self { clients, peers, journal, certificates, listeners, operator, copies, log, handover })
    }
}

async fn wait_for_successor(
    handover: HotRestart,
    node: Arc<Node>,
    sockets: Vec<OwnedFd>,
    tell: impl Fn(Event),
    stop: ShutdownSignal,
) -> Option<HandoverChannel> {
    let failed = |error| tell(Event::NotReplaced(error));
    let successor = handover.wait_for_successor(node, sockets, failed, stop.clone()).await?;
    tell(Event::Replaced);
    if !stop.is_requested() {
        stop.request();
    }
    Some(successor)
}

async fn serve_operator(server: Server, node: Arc<Node>, stop: ShutdownSignal) {
    let handler = move |request: Request<Body>| {
        let node = Arc::clone(&node);
        async move { Ok(server::serve(&node, request).await) }
    };
    server.serve(handler, &stop).await;
}
