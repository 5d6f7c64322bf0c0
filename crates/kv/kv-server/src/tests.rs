//! Tests of a store over HTTP.

mod binding;
mod handover;
mod large;
mod lines;
mod namespaces;
mod nats;
mod network;
mod rest;

use std::{fmt::Write as _, net::SocketAddr, sync::Arc};

use http_stack::{Server, ShutdownSignal, token::TokenHash};
use kv::StoreName;
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::spawn_blocking,
};

use crate::{Access, Config, KvHandler, Namespace, Pairing, Place, Service};

/// With two namespaces, `sessions` and `flags`, and their tokens `s` and `f`. The operator's token
/// is `root`.
struct Store {
    service: Arc<Service>,
    address: SocketAddr,
    stop: ShutdownSignal,
    folder: TempDir,
    nats: Option<nats::Nats>,
}

#[derive(Debug, PartialEq, Eq)]
struct Came {
    status: u16,
    reason: String,
    head: String,
    body: Vec<u8>,
}

impl Came {
    fn field(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

fn access() -> Access {
    let namespace = |name: &str, token: &str| Namespace {
        name: name.into(),
        id: Namespace::id_of(name),
        tokens: vec![TokenHash::of(token.as_bytes())],
        read_tokens: Vec::new(),
    };
    Access::of_file(vec![namespace("sessions", "s"), namespace("flags", "f")], vec![TokenHash::of(b"root")])
}

impl Store {
    async fn open() -> Self {
        Self::with_largest(Config::LARGEST).await
    }

    async fn with_largest(largest: u64) -> Self {
        Self::with(None, "lhr", largest).await
    }

    async fn with(place: Option<Place>, name: &str, largest: u64) -> Self {
        let folder = TempDir::new().unwrap();
        let config = Config {
            place: place.or_else(|| Some(Place::File(folder.path().join("kv.redb")))),
            name: StoreName::new(name).unwrap(),
            memory: 4 << 20,
            disk: None,
            streams: None,
            company: Pairing::Alone,
            largest,
        };
        let service = spawn_blocking(move || Service::open(config, access()).unwrap()).await.unwrap();
        let service = Arc::new(service);
        let server = Server::listen(&["127.0.0.1:0".parse().unwrap()]).unwrap();
        let address = server.addresses().unwrap()[0];
        let (door, stop) = (KvHandler::of(&service), ShutdownSignal::new());
        let ending = stop.clone();
        tokio::spawn(async move { server.serve(door, &ending).await });
        Self { service, address, stop, folder, nats: None }
    }

    async fn ask(&self, token: &str, line: &str, fields: &str, body: &[u8]) -> Came {
        let mut head = format!("{line} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{fields}");
        if !token.is_empty() {
            write!(head, "Authorization: Bearer {token}\r\n").unwrap();
        }
        let has_length = fields.to_ascii_lowercase().contains("content-length")
            || fields.to_ascii_lowercase().contains("transfer-encoding");
        if !body.is_empty() && !has_length {
            write!(head, "Content-Length: {}\r\n", body.len()).unwrap();
        }
        self.send(&[head.as_bytes(), b"\r\n", body].concat()).await
    }

    async fn own(&self, line: &str, fields: &str, body: &[u8]) -> Came {
        self.ask("s", line, fields, body).await
    }

    async fn send(&self, request: &[u8]) -> Came {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let _ = stream.write_all(request).await;
        let mut said = Vec::new();
        let _ = stream.read_to_end(&mut said).await;
        let end = said.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
        let head = String::from_utf8(said[..end].to_vec()).unwrap();
        let (status, reason) = head.lines().next().unwrap()[9..].split_once(' ').unwrap();
        let body = said[end..].to_vec();
        Came { status: status.parse().unwrap(), reason: reason.into(), head: head.clone(), body }
    }

    async fn leave(&self) {
        let service = Arc::clone(&self.service);
        spawn_blocking(move || service.release()).await.unwrap();
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.stop.request();
        self.stop.request();
    }
}
