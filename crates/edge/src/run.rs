//! A data centre from its start to its end: sockets, a thread for each core, what changes while it runs, and who comes after it.

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

/// What one process is told, besides its network.
#[derive(Debug)]
pub struct Config {
    /// The network's file, which is read again at each SIGHUP.
    pub path: PathBuf,
    /// Which of its data centres this is.
    pub data_centre: DataCentre,
    /// Whose certificates origins may have.
    pub trust: Trust,
    /// Whether to take the place of the process that runs, if there is one.
    pub takes_over: bool,
    /// Sockets that listen already.
    pub sockets: Sockets,
}

/// Where a data centre that is ready listens.
#[derive(Debug, Clone)]
pub struct Ready {
    /// In clear text.
    pub clear: Vec<SocketAddr>,
    /// Over TLS, and over QUIC on the UDP ports of the same numbers.
    pub tls: Vec<SocketAddr>,
    /// For other data centres.
    pub links: Vec<SocketAddr>,
    /// For those who use the key-value store.
    pub kv: Vec<SocketAddr>,
    /// The same over TLS.
    pub kv_tls: Vec<SocketAddr>,
    /// For the operator.
    pub admin: Option<SocketAddr>,
    /// Whether it took the place of a process that ran.
    pub took_over: bool,
}

/// What happens to a data centre that runs.
#[derive(Debug)]
pub enum Event {
    /// The network's file was read again.
    Reloaded {
        /// Settings that only a new process can use, in a sentence each.
        not_taken: Vec<String>,
    },
    /// It was, and is wrong, so that the network stays as it was.
    NotReloaded(Error),
    /// Another process serves in place of this one, which ends when its requests in flight are finished.
    Replaced,
    /// Another process wanted to, and could not.
    NotReplaced(Error),
}

/// Serves until asked to stop; requests in flight are finished then. Blocks; to be called outside of any tokio runtime, and with
/// SIGHUP not blocked: at each, the network's file is read again.
///
/// # Errors
/// When a socket cannot be opened, a certificate not be read, or the place of the process that runs not be taken.
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
    // Now no request has anything more to say.
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
    // Only now does the process that took this one's place see it as ended.
    drop(successor);
    Ok(end)
}

/// All that can fail before another process leaves anything to this one.
struct Prepared {
    clients: Clients,
    others: Option<Arc<Others>>,
    journal: Option<Journal>,
    doors: Doors,
    operator: Option<TcpListener>,
    /// Of all sockets, for the process that takes this one's place.
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

/// Asks this process to stop when another one serves in its place.
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
