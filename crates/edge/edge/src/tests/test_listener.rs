//! A data centre with a listener: requests over connections, and the path that each took.

use std::{
    collections::BTreeSet,
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use http_stack::{
    Body, Bytes, CompleteBody, Failure, HeaderValue, Request, Response, Server,
    server::{Delivery, Handler, Interim, Relaying, RequestView},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::Fixture;
use crate::{request::handler::ClientHandler, telemetry::delivery::DeliveryObserver};

struct Counted {
    visitors: ClientHandler,
    at_once: Arc<AtomicUsize>,
    relayed: Arc<AtomicUsize>,
}

impl Handler for Counted {
    const HAS_FAST_PATH: bool = true;

    type Observer = DeliveryObserver;

    fn try_respond_h1(
        &self,
        request: &RequestView<'_>,
        head: &mut Vec<u8>,
    ) -> Option<(CompleteBody, Option<DeliveryObserver>)> {
        let answered = self.visitors.try_respond_h1(request, head)?;
        self.at_once.fetch_add(1, SeqCst);
        Some(answered)
    }

    fn try_respond(&self, request: &RequestView<'_>) -> Option<(Response<Bytes>, Option<DeliveryObserver>)> {
        let answered = self.visitors.try_respond(request)?;
        self.at_once.fetch_add(1, SeqCst);
        Some(answered)
    }

    fn relay<'h>(
        &'h self,
        request: &RequestView<'_>,
        interim: impl FnOnce() -> Interim,
    ) -> Option<Relaying<'h, DeliveryObserver>> {
        let relaying = self.visitors.relay(request, interim)?;
        self.relayed.fetch_add(1, SeqCst);
        Some(relaying)
    }

    fn handle(&self, request: Request<Body>) -> impl Future<Output = Result<Response<Body>, Failure>> + Send {
        self.visitors.handle(request)
    }

    fn on_delivered(&self, sending: DeliveryObserver, delivery: Delivery) {
        self.visitors.on_delivered(sending, delivery);
    }
}

pub(super) struct TestListener {
    pub(super) fixture: Fixture,
    pub(super) address: SocketAddr,
    pub(super) at_once: Arc<AtomicUsize>,
    pub(super) relayed: Arc<AtomicUsize>,
}

/// Fields are in any order, without those that depend on the clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) status: String,
    pub(super) fields: BTreeSet<String>,
    pub(super) body: String,
}

impl TestListener {
    pub(super) fn new(fixture: Fixture) -> Self {
        Self::on("127.0.0.1:0", fixture)
    }

    pub(super) fn on(address: &str, fixture: Fixture) -> Self {
        let server = Server::listen(&[address.parse().unwrap()]).unwrap();
        let mut address = server.addresses().unwrap()[0];
        if address.ip().is_unspecified() {
            address.set_ip(Ipv4Addr::LOCALHOST.into());
        }
        let (at_once, relayed) = (Arc::default(), Arc::default());
        let visitors = ClientHandler(Arc::clone(&fixture.node));
        let handler = Counted { visitors, at_once: Arc::clone(&at_once), relayed: Arc::clone(&relayed) };
        let stop = fixture.stop.clone();
        tokio::spawn(async move { server.serve(handler, &stop).await });
        Self { fixture, address, at_once, relayed }
    }

    pub(super) async fn ask(&self, method: &str, path: &str, fields: &[&str]) -> (Said, bool) {
        let before = self.at_once.load(SeqCst);
        let fields: String = fields.iter().map(|field| format!("{field}\r\n")).collect();
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let last = "GET / HTTP/1.1\r\nhost: elsewhere.example\r\nconnection: close\r\n\r\n";
        let request = format!("{method} {path} HTTP/1.1\r\nHost: shop.example\r\n{fields}\r\n{last}");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).await.unwrap();
        // Latin-1: one character per byte.
        let text: String = bytes.into_iter().map(char::from).collect();
        let (head, rest) = text.split_once("\r\n\r\n").unwrap();
        let mut lines = head.lines();
        let status = lines.next().unwrap().to_owned();
        let fields = without_clock(path, &lines.map(str::to_owned).collect::<Vec<_>>());
        let body = rest[..rest.find("HTTP/1.1 421").unwrap()].to_owned();
        (Said { status, fields, body }, self.at_once.load(SeqCst) > before)
    }

    pub(super) async fn get(&self, path: &str, fields: &[&str]) -> (Said, bool) {
        self.ask("GET", path, fields).await
    }
}

pub(super) fn fields_of(path: &str, response: &Response<Bytes>) -> BTreeSet<String> {
    let text = |value: &HeaderValue| value.to_str().unwrap().to_owned();
    let lines = response.headers().iter().map(|(name, value)| format!("{name}: {}", text(value)));
    without_clock(path, &lines.collect::<Vec<_>>())
}

fn without_clock(path: &str, fields: &[String]) -> BTreeSet<String> {
    let age = fields.iter().find_map(|line| line.strip_prefix("age: ")?.parse().ok()).unwrap_or(0);
    let fields = fields.iter().map(|line| {
        let line = if line.starts_with("age: ") { "age: N" } else { line };
        match line.strip_prefix("cache-control: max-age=").and_then(|max| max.parse::<u64>().ok()) {
            // Browser lifetimes are relative to the origin's Date.
            Some(max) if path.starts_with("/b/") => format!("cache-control: max-age={} + age", max - age),
            _ => line.rsplit_once("ttl=").map_or(line.to_owned(), |(before, _)| format!("{before}ttl=N")),
        }
    });
    fields.collect()
}
