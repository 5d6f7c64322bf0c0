//! Three linked data centres in one process, for tests of tiers and detours.

use std::{
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use config_file::Document;
use http_stack::{
    Body, CompleteBody, Failure, Method, Request, Response, Server, ShutdownSignal,
    client::Trust,
    limits,
    server::{self, Handler, RequestView, listen},
};

use super::{ReceivedResponse, cuttable_link::CuttableLink, receive, request};
use crate::{
    Network, Token,
    peers::{Peers, server::PeerHandler},
    purge::{nats, record::RecoveredPurges},
    server::{kv, node::Node, worker_state::WorkerState},
    store::disk::DiskTier,
    upstream::connectors::Connectors,
};

pub(super) const NAMES: [&str; 3] = ["lhr", "fra", "syd"];

pub(super) struct World {
    pub(super) centres: Vec<Centre>,
    pub(super) folder: tempfile::TempDir,
    pub(super) token: String,
    /// By source and destination. Empty unless links can be cut.
    gates: Vec<Vec<CuttableLink>>,
    asked: Arc<AtomicUsize>,
    origin: ShutdownSignal,
}

pub(super) struct Centre {
    pub(super) worker: Arc<WorkerState>,
    pub(super) address: SocketAddr,
    pub(super) at_once: Arc<AtomicUsize>,
    stop: ShutdownSignal,
}

struct Counted {
    peers: PeerHandler,
    at_once: Arc<AtomicUsize>,
}

impl Handler for Counted {
    const HAS_FAST_PATH: bool = true;

    type Observer = ();

    fn try_respond_h1(
        &self,
        request: &RequestView<'_>,
        head: &mut Vec<u8>,
    ) -> Option<(CompleteBody, Option<()>)> {
        let answered = self.peers.try_respond_h1(request, head)?;
        self.at_once.fetch_add(1, SeqCst);
        Some(answered)
    }

    fn handle(&self, request: Request<Body>) -> impl Future<Output = Result<Response<Body>, Failure>> + Send {
        self.peers.handle(request)
    }
}

impl World {
    pub(super) fn new<F>(
        zone: &str,
        respond: impl Fn(Request<Body>, usize) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Response<Body>> + Send,
    {
        Self::with([(); 3].map(|()| (zone.to_owned(), None)), respond)
    }

    /// Each data centre has a separate zone and, optionally, another address for the origin.
    pub(super) fn with<F>(
        zones: [(String, Option<SocketAddr>); 3],
        respond: impl Fn(Request<Body>, usize) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Response<Body>> + Send,
    {
        Self::build((zones, ""), respond, |_| Vec::new(), limits::STREAMS)
    }

    /// Limits the concurrent requests on a connection between two data centres.
    pub(super) fn with_streams<F>(
        streams: u32,
        zones: [(String, Option<SocketAddr>); 3],
        respond: impl Fn(Request<Body>, usize) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Response<Body>> + Send,
    {
        Self::build((zones, ""), respond, |_| Vec::new(), streams)
    }

    pub(super) fn with_gates<F>(
        zone: &str,
        respond: impl Fn(Request<Body>, usize) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Response<Body>> + Send,
    {
        Self::on_bus("", zone, respond)
    }

    pub(super) fn on_bus<F>(
        bus: &str,
        zone: &str,
        respond: impl Fn(Request<Body>, usize) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Response<Body>> + Send,
    {
        let gates = |addresses: &[SocketAddr]| {
            let from = |_| addresses.iter().map(|&there| CuttableLink::before(there)).collect();
            NAMES.iter().map(from).collect()
        };
        Self::build(([(); 3].map(|()| (zone.to_owned(), None)), bus), respond, gates, limits::STREAMS)
    }

    fn build<F>(
        (zones, bus): ([(String, Option<SocketAddr>); 3], &str),
        respond: impl Fn(Request<Body>, usize) -> F + Send + Sync + 'static,
        gates: impl FnOnce(&[SocketAddr]) -> Vec<Vec<CuttableLink>>,
        streams: u32,
    ) -> Self
    where
        F: Future<Output = Response<Body>> + Send,
    {
        let server = Server::listen(&["127.0.0.1:0".parse().unwrap()]).unwrap();
        let there = server.addresses().unwrap()[0];
        let (asked, origin) = (Arc::new(AtomicUsize::new(0)), ShutdownSignal::new());
        let (counter, respond, ending) = (Arc::clone(&asked), Arc::new(respond), origin.clone());
        let handler = move |request: Request<Body>| {
            let (number, respond) = (counter.fetch_add(1, SeqCst), Arc::clone(&respond));
            async move { Ok(respond(request, number).await) }
        };
        tokio::spawn(async move { server.serve(handler, &ending).await });
        let folder = tempfile::tempdir().unwrap();
        crate::Certificate::create_authority(folder.path()).unwrap();
        let mut sockets: Vec<_> =
            NAMES.iter().map(|_| listen(&["127.0.0.1:0".parse().unwrap()]).unwrap().remove(0)).collect();
        let addresses: Vec<_> = sockets.iter().map(|socket| socket.local_addr().unwrap()).collect();
        for name in NAMES {
            crate::Certificate::issue(folder.path(), name, &[], 1).unwrap();
        }
        let (gates, token) = (gates(&addresses), Token::make().unwrap());
        let centres = zones.into_iter().enumerate().map(|(number, (zone, found_at))| {
            let seen = gates.get(number).map(|gates| gates.iter().map(|gate| gate.address).collect());
            let seen: Vec<_> = seen.unwrap_or_else(|| addresses.clone());
            let text = text(folder.path(), &seen, found_at.unwrap_or(there), &zone);
            let text = text.replace("name = \"n\"\n", &format!("name = \"n\"\n{bus}"));
            let text = format!("[admin]\ntokens = [\"{}\"]\n{text}", token.sha256);
            let text =
                text.replace("FOLDER", &folder.path().display().to_string()).replace("HASH", &token.sha256);
            let network = Network::read(&Document::new("n.toml", text)).unwrap();
            Centre::begin(NAMES[number], network, sockets.remove(0), None, streams)
        });
        Self { centres: centres.collect(), folder, token: token.token, gates, asked, origin }
    }

    pub(super) fn let_pass(&self, a: usize, b: usize, is_open: bool) {
        self.gates[a][b].set(is_open);
        self.gates[b][a].set(is_open);
    }

    pub(super) fn block(&self, from: usize, to: usize) {
        self.gates[from][to].set(false);
    }

    pub(super) fn restart(&mut self, centre: usize, opened: Option<(DiskTier, RecoveredPurges)>) {
        let network = Network::clone(&self.centres[centre].worker.network());
        self.centres[centre].die();
        let socket = listen(&["127.0.0.1:0".parse().unwrap()]).unwrap().remove(0);
        let address = socket.local_addr().unwrap();
        self.gates.iter().for_each(|gates| gates[centre].lead_to(address));
        self.centres[centre] = Centre::begin(NAMES[centre], network, socket, opened, limits::STREAMS);
    }

    pub(super) fn asked(&self) -> usize {
        self.asked.load(SeqCst)
    }

    pub(super) async fn get(&self, centre: usize, path: &str) -> ReceivedResponse {
        self.send(centre, request(Method::GET, path, &[])).await
    }

    pub(super) async fn send(&self, centre: usize, request: Request<Body>) -> ReceivedResponse {
        receive(self.centres[centre].worker.serve(request).await).await
    }

    pub(super) fn others(&self, centre: usize) -> Arc<Peers> {
        self.centres[centre].worker.peers().unwrap()
    }

    pub(super) fn asked_by_others(&self, centre: usize) -> u64 {
        self.centres[centre].worker.peer_counters.report().total
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.centres.iter().for_each(Centre::die);
        self.origin.request();
        self.origin.request();
    }
}

impl Centre {
    fn begin(
        name: &str,
        network: Network,
        socket: TcpListener,
        opened: Option<(DiskTier, RecoveredPurges)>,
        streams: u32,
    ) -> Self {
        let address = socket.local_addr().unwrap();
        let peers = Peers::new(&network, name, 1, None).unwrap().unwrap();
        let config = server::Config { streams, ..server::Config::default() };
        let server = Server::on(vec![socket]).unwrap().with_members(&peers.membership).with_config(config);
        let (on_disk, before) = opened.unzip();
        let node = Node::new(name.into(), network, super::MEMORY * 4, on_disk, None, 1);
        node.set_peers(Some(Arc::clone(&peers)));
        let kv = kv::open(&node.network(), name, node.peers_handle()).unwrap();
        let node = Arc::new(node.with_kv(kv));
        node.resume(before.unwrap_or_default());
        node.start_peers(Some(peers));
        node.join_nats(nats::journal_of(&node.network(), name).unwrap());
        let worker = Arc::new(WorkerState::new(node, 0, Connectors::new(Trust::System).unwrap()));
        let (stop, at_once) = (ShutdownSignal::new(), Arc::default());
        let for_others =
            Counted { peers: PeerHandler(Arc::new(worker.for_peers())), at_once: Arc::clone(&at_once) };
        let ending = stop.clone();
        tokio::spawn(async move { server.serve(for_others, &ending).await });
        Self { worker, address, at_once, stop }
    }

    pub(super) fn die(&self) {
        self.stop.request();
        self.stop.request();
    }
}

fn text(folder: &Path, addresses: &[SocketAddr], origin: SocketAddr, zone: &str) -> String {
    let file = |name: &str| folder.join(name).display().to_string();
    let centre = |(name, address): (&str, &SocketAddr)| {
        format!(
            "[[data_centre]]\nname = \"{name}\"\nlisten = [\"127.0.0.1:0\"]\naddress = \"{address}\"\n\
             link_certificate = \"{}\"\nlink_key = \"{}\"\n",
            file(&format!("{name}.pem")),
            file(&format!("{name}-key.pem"))
        )
    };
    let centres: String = NAMES.into_iter().zip(addresses).map(centre).collect();
    format!(
        "[network]\nname = \"n\"\nauthority = \"{}\"\n{centres}\
         [[zone]]\nname = \"z\"\nhosts = [\"shop.example\"]\norigin = [\"http://{origin}\"]\n{zone}",
        file("ca.pem")
    )
}
