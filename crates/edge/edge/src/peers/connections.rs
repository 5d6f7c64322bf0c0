//! Connections to peers. Each peer has one connection for small and one for large responses, so
//! that a large body does not delay a small one, and further ones for tunnels, which are
//! long-lived.
//!
//! A request is first sent on the connection for small responses. If the response is known to be
//! large, the peer only reports this, and the request is repeated on the other connection. Each
//! worker also has a connection for small responses, which it reads in its own thread; requests
//! without a body use HTTP/1.1 on long-lived streams of it, which costs the least CPU at both ends.

use std::{net::SocketAddr, time::Duration};

use http_stack::{
    Client, MeshIdentity, Origin,
    client::{Config, Known, Limits, Lookups, Protocol, Windows},
};
use tokio::time::timeout;

use crate::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrafficClass {
    /// Also used for responses of unknown size.
    Small,
    Bulk,
    Tunnel,
}

pub(crate) struct PeerConnections {
    small: Client,
    per_worker: Vec<WorkerConnections>,
    bulk: Client,
    tunnels: Client,
}

struct WorkerConnections {
    client: Client,
    nested: Client,
}

impl PeerConnections {
    pub(super) fn new(
        own: &MeshIdentity,
        addresses: &[(String, SocketAddr)],
        workers: usize,
    ) -> Result<Self, Error> {
        let known = |(name, address): &(String, SocketAddr)| Known {
            host: name.to_ascii_lowercase(),
            port: address.port(),
            address: address.ip(),
        };
        let config = Config {
            protocol: Protocol::Http2,
            limits: Limits {
                connections: CONNECTIONS_PER_PEER,
                waiting: MAX_WAITING,
                origins: addresses.len().max(1),
                ..Limits::default()
            },
            lookups: Lookups::Once,
            member: Some(own.clone()),
            known: addresses.iter().map(known).collect(),
            ..Config::default()
        };
        let mut tunnels = config.clone();
        // A tunnel can last for hours: do not queue requests for its stream.
        tunnels.limits.waiting = 0;
        tunnels.windows = Windows { stream: TUNNEL_WINDOW, connection: TUNNEL_WINDOW * MAX_TUNNELS };
        let small = Client::new(&config)?;
        Ok(Self {
            per_worker: (0..workers.clamp(1, MAX_WORKERS))
                .map(|_| WorkerConnections::new(small.fresh()))
                .collect(),
            small,
            bulk: Client::new(&config)?,
            tunnels: Client::new(&tunnels)?,
        })
    }

    pub(crate) fn client(&self, class: TrafficClass) -> &Client {
        match class {
            TrafficClass::Small => &self.small,
            TrafficClass::Bulk => &self.bulk,
            TrafficClass::Tunnel => &self.tunnels,
        }
    }

    /// The shared connection is used while the worker's own one is opened. Must be called in the
    /// worker's runtime, which drives that connection.
    pub(crate) fn small_client(&self, worker: usize, origin: &Origin, has_body: bool) -> &Client {
        let WorkerConnections { client: own, nested } = &self.per_worker[worker % self.per_worker.len()];
        if !has_body && own.is_nesting(origin) {
            return nested;
        }
        if own.is_open(origin) {
            return own;
        }
        if own.connections(origin) == 0 {
            let (own, origin) = (own.clone(), origin.clone());
            tokio::spawn(async move { timeout(CONNECT_TIMEOUT, own.open(&origin)).await });
        }
        &self.small
    }

    pub(crate) fn reconnect_all(&self, origin: &Origin) {
        for client in [&self.small, &self.bulk, &self.tunnels] {
            client.leave(origin);
        }
        self.reconnect(origin);
    }

    /// To be called after a failure. The old connections may be dead without an error long after the
    /// shared one has recovered, so the shared one is used until new ones are open.
    pub(crate) fn reconnect(&self, origin: &Origin) {
        for WorkerConnections { client, nested } in &self.per_worker {
            client.leave(origin);
            nested.leave(origin);
        }
    }
}

impl WorkerConnections {
    fn new(client: Client) -> Self {
        Self { nested: client.nested(MAX_NESTED_STREAMS), client }
    }
}

/// One, and others on which requests in flight finish.
const CONNECTIONS_PER_PEER: usize = 4;

/// Half of the stream limit of a data centre.
const MAX_NESTED_STREAMS: usize = http_stack::limits::STREAMS as usize / 2;

pub(super) const MAX_WORKERS: usize = 8;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The window of a tunnel, bytes. The connection's window is the sum, so a tunnel that is not read
/// does not block the others.
const TUNNEL_WINDOW: u32 = 64 << 10;
const MAX_TUNNELS: u32 = http_stack::limits::STREAMS;

const MAX_WAITING: usize = 20_000;
