//! The life cycle of a data centre: sockets, a thread per worker, reloads, and handover to a successor.

use std::{
    mem,
    net::{SocketAddr, TcpListener},
    num::NonZero,
    os::fd::OwnedFd,
    path::PathBuf,
    sync::Arc,
    thread,
};

use http::{
    Body, Request, Server, Stop,
    client::Trust,
    server::{End, listen},
};
use jetstream::Journal;
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::{mpsc, watch},
};

use crate::{
    Error, Network, admin,
    centre::Edge,
    clients::Clients,
    core::Core,
    doors::Doors,
    handover::{Handover, Wire},
    kv,
    log::Log,
    nats::journal_of,
    network::DataCentre,
    on_disk::OnDisk,
    others::Others,
    reload::{Reloader, reload},
    sockets::Sockets,
    traces::Sender,
    worker::{Worker, own_runtime},
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
    pub sockets: Sockets,
}

/// The addresses of a data centre that is ready.
#[derive(Debug, Clone)]
pub struct Ready {
    /// Without TLS.
    pub clear: Vec<SocketAddr>,
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
    pub took_over: bool,
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
    /// Another process serves instead. This process exits when its requests in flight are finished.
    Replaced,
    /// Another process failed to replace this process.
    NotReplaced(Error),
}

/// Serves until a stop is requested, then finishes requests in flight. Blocks. Must be called outside any
/// tokio runtime, with SIGHUP not blocked: each SIGHUP reloads the network file.
///
/// # Errors
/// If a socket cannot be opened, a certificate cannot be read, or the running process cannot be replaced.
pub fn run(
    network: Network,
    mut config: Config,
    ready: impl FnOnce(&Ready),
    tell: impl Fn(Event) + Clone + Send + Sync + 'static,
    stop: &Stop,
) -> Result<End, Error> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let Prepared { clients, others, journal, mut doors, operator, copies, log, mut handover } =
        Prepared::new(&network, &mut config, cores)?;
    let took_over = handover.has_predecessor();
    handover.relieve()?;
    let centre = config.data_centre;
    let (on_disk, before) = centre.disk.as_ref().map(OnDisk::open).transpose()?.unzip();
    let name = network.name.clone();
    let started_as = network.data_centre(&centre.name).ok().cloned();
    let edge = Edge::new(centre.name, network, centre.memory, on_disk, log, cores);
    edge.put_others(others.clone());
    let kv = kv::open(&edge.network(), &edge.centre, edge.linked())?;
    let edge = Arc::new(edge.behind(doors.per_address()).with_kv(kv));
    edge.resume(before.unwrap_or_default());
    let runtime = own_runtime()?;
    let (operator, hangups) = {
        let _here = runtime.enter();
        let operator = operator.map(|socket| Server::on(vec![socket])).transpose()?;
        (operator, signal(SignalKind::hangup()).map_err(Error::Runtime)?)
    };
    let ((clear, tls), links) = (doors.addresses(), doors.link_addresses());
    let (kv, kv_tls) = doors.kv_addresses();
    let identity = doors.identity();
    let admin = operator.as_ref().map(Server::addresses).transpose()?.and_then(|all| all.first().copied());
    let core = |number| Core::new(Arc::clone(&edge), number, clients.fresh());
    let serves_links = others.is_some();
    let member = others.as_ref().map(|others| &others.membership);
    let workers: Vec<_> =
        (0..cores).map(|number| Worker::new(core(number), &mut doors, member)).collect::<Result<_, _>>()?;
    {
        let _here = runtime.enter();
        edge.link(others);
        edge.take_part(journal);
    }
    let sender = Sender::new(Arc::clone(&edge.traces), clients.usual.fresh(), &name, &edge.centre);
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
    ready(&Ready { clear, tls, links, kv, kv_tls, admin, took_over });
    let sending = runtime.spawn(sender.run(is_over));
    let (end, successor) = runtime.block_on(async {
        let reloader = Reloader { path: config.path, started_as, identity, serves_links };
        let told = tell.clone();
        let reloaded = move |result: Result<_, _>| {
            told(result.map_or_else(Event::NotReloaded, |not_taken| Event::Reloaded { not_taken }));
        };
        let reloading = tokio::spawn(reload(Arc::clone(&edge), reloader, hangups, reloaded));
        if let Some(kv) = edge.kv.clone() {
            tokio::spawn(async move { kv.sweep().await });
        }
        if let Some(operator) = operator {
            tokio::spawn(serve_operator(operator, Arc::clone(&edge), stop.clone()));
        }
        let successor = tokio::spawn(be_replaced(handover, Arc::clone(&edge), copies, tell, stop.clone()));
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
    if let Some(on_disk) = &edge.on_disk {
        on_disk.close();
    }
    if let Some(log) = &edge.log {
        log.close();
    }
    if let Some(kv) = &edge.kv {
        kv.leave();
    }
    // The successor treats this process as exited only from here on.
    drop(successor);
    Ok(end)
}

/// Everything that can fail before a running process releases any resource.
struct Prepared {
    clients: Clients,
    others: Option<Arc<Others>>,
    journal: Option<Journal>,
    doors: Doors,
    operator: Option<TcpListener>,
    copies: Vec<OwnedFd>,
    log: Option<Log>,
    handover: Handover,
}

impl Prepared {
    fn new(network: &Network, config: &mut Config, cores: usize) -> Result<Self, Error> {
        let centre = &config.data_centre;
        let clients = Clients::new(config.trust.clone())?;
        let others = Others::new(network, &centre.name, cores, None)?;
        let journal = journal_of(network, &centre.name)?;
        let (handover, sockets) = Handover::begin(centre, config.takes_over)?;
        let mut there = sockets.unwrap_or_else(|| mem::take(&mut config.sockets));
        let doors = Doors::open(centre, cores, &mut there)?;
        let operator = match centre.admin {
            None => None,
            Some(address) => match there.take_tcp(address).pop() {
                Some(socket) => Some(socket),
                None => listen(&[address])?.pop(),
            },
        };
        let copies = if centre.handover.is_some() { doors.copies(operator.as_ref()) } else { Ok(Vec::new()) };
        let copies = copies.map_err(Error::Inherited)?;
        let log = centre.access_log.as_ref().map(|path| Log::open(path, &centre.name, cores)).transpose()?;
        Ok(Self { clients, others, journal, doors, operator, copies, log, handover })
    }
}

/// Requests a stop when another process has taken over.
async fn be_replaced(
    handover: Handover,
    edge: Arc<Edge>,
    sockets: Vec<OwnedFd>,
    tell: impl Fn(Event),
    stop: Stop,
) -> Option<Wire> {
    let failed = |error| tell(Event::NotReplaced(error));
    let successor = handover.be_replaced(edge, sockets, failed, stop.clone()).await?;
    tell(Event::Replaced);
    if !stop.is_asked() {
        stop.ask();
    }
    Some(successor)
}

async fn serve_operator(server: Server, edge: Arc<Edge>, stop: Stop) {
    let handler = move |request: Request<Body>| {
        let edge = Arc::clone(&edge);
        async move { Ok(admin::serve(&edge, request).await) }
    };
    server.serve(handler, &stop).await;
}
