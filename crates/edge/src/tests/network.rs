//! Three data centres with links between them, in one process: what the tests of tiers and of detours have in common.

use std::{
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use document::Document;
use http::{
    Body, Failure, Method, Request, Response, Server, Stop, Whole,
    client::Trust,
    limits,
    server::{self, Glance, Handler, listen},
};

use super::{Came, came, gate::Gate, request};
use crate::{
    Network, Token, centre::Edge, clients::Clients, core::Core, for_others::ForOthers, kv, nats,
    note::Before, on_disk::OnDisk, others::Others,
};

pub(super) const NAMES: [&str; 3] = ["lhr", "fra", "syd"];

/// The data centres, and an origin that answers with `respond`.
pub(super) struct World {
    pub(super) centres: Vec<Centre>,
    pub(super) folder: tempfile::TempDir,
    /// Of the operator.
    pub(super) token: String,
    /// By who asks and who is asked; only where links can be cut.
    gates: Vec<Vec<Gate>>,
    asked: Arc<AtomicUsize>,
    origin: Stop,
}

/// One data centre.
pub(super) struct Centre {
    pub(super) core: Arc<Core>,
    pub(super) address: SocketAddr,
    /// How many requests of others it answered at once.
    pub(super) at_once: Arc<AtomicUsize>,
    stop: Stop,
}

/// Who answers others, and how many at once.
struct Counted {
    others: ForOthers,
    at_once: Arc<AtomicUsize>,
}

impl Handler for Counted {
    const ANSWERS_AT_ONCE: bool = true;

    type Note = ();

    fn at_once(&self, request: &Glance<'_>, head: &mut Vec<u8>) -> Option<(Whole, Option<()>)> {
        let answered = self.others.at_once(request, head)?;
        self.at_once.fetch_add(1, SeqCst);
        Some(answered)
    }

    fn handle(&self, request: Request<Body>) -> impl Future<Output = Result<Response<Body>, Failure>> + Send {
        self.others.handle(request)
    }
}

impl World {
    /// All of them with the same zone.
    pub(super) fn new<F>(
        zone: &str,
        respond: impl Fn(Request<Body>, usize) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Response<Body>> + Send,
    {
        Self::with([(); 3].map(|()| (zone.to_owned(), None)), respond)
    }

    /// Each with a zone of its own, and the address at which it looks for the origin, if that is not the origin's.
    pub(super) fn with<F>(
        zones: [(String, Option<SocketAddr>); 3],
        respond: impl Fn(Request<Body>, usize) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Response<Body>> + Send,
    {
        Self::build((zones, ""), respond, |_| Vec::new(), limits::STREAMS)
    }

    /// The same, with so many requests at once on a connection between two data centres.
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

    /// All of them with the same zone, and with links that can be cut.
    pub(super) fn with_gates<F>(
        zone: &str,
        respond: impl Fn(Request<Body>, usize) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Response<Body>> + Send,
    {
        Self::on_bus("", zone, respond)
    }

    /// The same, with this in the table of the network.
    pub(super) fn on_bus<F>(
        bus: &str,
        zone: &str,
        respond: impl Fn(Request<Body>, usize) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Response<Body>> + Send,
    {
        let gates = |addresses: &[SocketAddr]| {
            let from = |_| addresses.iter().map(|&there| Gate::before(there)).collect();
            NAMES.iter().map(from).collect()
        };
        Self::build(([(); 3].map(|()| (zone.to_owned(), None)), bus), respond, gates, limits::STREAMS)
    }

    fn build<F>(
        (zones, bus): ([(String, Option<SocketAddr>); 3], &str),
        respond: impl Fn(Request<Body>, usize) -> F + Send + Sync + 'static,
        gates: impl FnOnce(&[SocketAddr]) -> Vec<Vec<Gate>>,
        streams: u32,
    ) -> Self
    where
        F: Future<Output = Response<Body>> + Send,
    {
        let server = Server::listen(&["127.0.0.1:0".parse().unwrap()]).unwrap();
        let there = server.addresses().unwrap()[0];
        let (asked, origin) = (Arc::new(AtomicUsize::new(0)), Stop::new());
        let (counter, respond, ending) = (Arc::clone(&asked), Arc::new(respond), origin.clone());
        let handler = move |request: Request<Body>| {
            let (number, respond) = (counter.fetch_add(1, SeqCst), Arc::clone(&respond));
            async move { Ok(respond(request, number).await) }
        };
        tokio::spawn(async move { server.serve(handler, &ending).await });
        let folder = tempfile::tempdir().unwrap();
        crate::Certificate::of_new_authority(folder.path()).unwrap();
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

    /// Has two data centres reach one another, or not.
    pub(super) fn let_pass(&self, a: usize, b: usize, is_open: bool) {
        self.gates[a][b].set(is_open);
        self.gates[b][a].set(is_open);
    }

    /// Has one not reach another one, which may reach it.
    pub(super) fn block(&self, from: usize, to: usize) {
        self.gates[from][to].set(false);
    }

    /// A data centre ends, and another process comes in its place.
    pub(super) fn restart(&mut self, centre: usize, opened: Option<(OnDisk, Before)>) {
        let network = Network::clone(&self.centres[centre].core.network());
        self.centres[centre].die();
        let socket = listen(&["127.0.0.1:0".parse().unwrap()]).unwrap().remove(0);
        let address = socket.local_addr().unwrap();
        self.gates.iter().for_each(|gates| gates[centre].lead_to(address));
        self.centres[centre] = Centre::begin(NAMES[centre], network, socket, opened, limits::STREAMS);
    }

    pub(super) fn asked(&self) -> usize {
        self.asked.load(SeqCst)
    }

    pub(super) async fn get(&self, centre: usize, path: &str) -> Came {
        self.send(centre, request(Method::GET, path, &[])).await
    }

    pub(super) async fn send(&self, centre: usize, request: Request<Body>) -> Came {
        came(self.centres[centre].core.serve(request).await).await
    }

    pub(super) fn others(&self, centre: usize) -> Arc<Others> {
        self.centres[centre].core.others().unwrap()
    }

    /// Requests that a data centre got from others.
    pub(super) fn asked_by_others(&self, centre: usize) -> u64 {
        self.centres[centre].core.counts_of_others.report().total
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.centres.iter().for_each(Centre::die);
        self.origin.ask();
        self.origin.ask();
    }
}

impl Centre {
    fn begin(
        name: &str,
        network: Network,
        socket: TcpListener,
        opened: Option<(OnDisk, Before)>,
        streams: u32,
    ) -> Self {
        let address = socket.local_addr().unwrap();
        let others = Others::new(&network, name, 1, None).unwrap().unwrap();
        let config = server::Config { streams, ..server::Config::default() };
        let server = Server::on(vec![socket]).unwrap().with_members(&others.membership).with_config(config);
        let (on_disk, before) = opened.unzip();
        let edge = Edge::new(name.into(), network, super::MEMORY * 4, on_disk, None, 1);
        edge.put_others(Some(Arc::clone(&others)));
        let kv = kv::open(&edge.network(), name, edge.linked()).unwrap();
        let edge = Arc::new(edge.with_kv(kv));
        edge.resume(before.unwrap_or_default());
        edge.link(Some(others));
        edge.take_part(nats::journal_of(&edge.network(), name).unwrap());
        let core = Arc::new(Core::new(edge, 0, Clients::new(Trust::System).unwrap()));
        let (stop, at_once) = (Stop::new(), Arc::default());
        let for_others =
            Counted { others: ForOthers(Arc::new(core.for_others())), at_once: Arc::clone(&at_once) };
        let ending = stop.clone();
        tokio::spawn(async move { server.serve(for_others, &ending).await });
        Self { core, address, at_once, stop }
    }

    /// Is gone for others at once.
    pub(super) fn die(&self) {
        self.stop.ask();
        self.stop.ask();
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
