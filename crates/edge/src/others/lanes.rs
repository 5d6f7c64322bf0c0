//! Connections to other data centres: two to each, so that a large body that is on its way does not delay a small one. Those on which other protocols
//! are passed through, such as WebSocket, have others: they stay for long, and would take the room of requests. And each core has a connection
//! of its own for what is small, beside the one of all: what it asks there is answered in its own thread, and no other one has to be woken. What
//! has no body is asked for there in HTTP/1.1, on streams that stay, which costs both ends least.
//!
//! Requests begin on the first. Who is asked there for what it knows to be large says so instead of sending it, and is asked again on the
//! second: a round trip more for what takes many anyway. Each has windows of its own, so that a body that nobody reads for a while holds up
//! none on the other; and each its own place in the network's queues.

use std::{net::SocketAddr, time::Duration};

use http::{
    Client, Membership, Origin,
    client::{Config, Known, Limits, Lookups, Protocol, Windows},
};
use tokio::time::timeout;

use crate::Error;

/// Which of the connections to a data centre.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// For what is small, or not known to be large.
    Small,
    /// For large bodies.
    Bulk,
    /// For other protocols.
    Tunnels,
}

/// All of them.
pub(crate) struct Lanes {
    small: Client,
    /// For what is small as well, of one core each.
    of_cores: Vec<OfCore>,
    bulk: Client,
    tunnels: Client,
}

/// The connections of one core.
struct OfCore {
    client: Client,
    /// Speaks HTTP/1.1 on streams of the same.
    nested: Client,
}

impl Lanes {
    /// To data centres with these names and addresses, of so many cores.
    pub(super) fn new(
        own: &Membership,
        addresses: &[(String, SocketAddr)],
        cores: usize,
    ) -> Result<Self, Error> {
        let known = |(name, address): &(String, SocketAddr)| Known {
            host: name.to_ascii_lowercase(),
            port: address.port(),
            address: address.ip(),
        };
        let config = Config {
            protocol: Protocol::Http2,
            limits: Limits {
                connections: CONNECTIONS,
                waiting: WAITING,
                origins: addresses.len().max(1),
                ..Limits::default()
            },
            lookups: Lookups::Once,
            member: Some(own.clone()),
            known: addresses.iter().map(known).collect(),
            ..Config::default()
        };
        let mut tunnels = config.clone();
        // A tunnel ends when its visitor wants: nobody waits for that.
        tunnels.limits.waiting = 0;
        tunnels.windows = Windows { stream: OF_TUNNEL, connection: OF_TUNNEL * MOST_TUNNELS };
        let small = Client::new(&config)?;
        Ok(Self {
            of_cores: (0..cores.clamp(1, MOST_CORES)).map(|_| OfCore::new(small.fresh())).collect(),
            small,
            bulk: Client::new(&config)?,
            tunnels: Client::new(&tunnels)?,
        })
    }

    pub(crate) fn of(&self, lane: Lane) -> &Client {
        match lane {
            Lane::Small => &self.small,
            Lane::Bulk => &self.bulk,
            Lane::Tunnels => &self.tunnels,
        }
    }

    /// The connection for something small that a core asks, which may have a body: its own if that is open, else the one of all, while its own is
    /// opened. To be called in the core's runtime, where that lives.
    pub(crate) fn small_of(&self, core: usize, origin: &Origin, has_body: bool) -> &Client {
        let OfCore { client: own, nested } = &self.of_cores[core % self.of_cores.len()];
        if !has_body && own.is_nesting(origin) {
            return nested;
        }
        if own.is_open(origin) {
            return own;
        }
        if own.connections(origin) == 0 {
            let (own, origin) = (own.clone(), origin.clone());
            // If it fails, so does what is asked on the one of all, which is told.
            tokio::spawn(async move { timeout(OPENING, own.open(&origin)).await });
        }
        &self.small
    }

    /// All requests to this data centre are made on new connections from now on. Those that are under way end where they are.
    pub(crate) fn leave_all(&self, origin: &Origin) {
        for client in [&self.small, &self.bulk, &self.tunnels] {
            client.leave(origin);
        }
        self.leave(origin);
    }

    /// A request failed, or who is asked does not answer: what cores ask goes the way of all others until they have new connections. Those of
    /// before may be without an answer for long after others have one, and nobody would know.
    pub(crate) fn leave(&self, origin: &Origin) {
        for OfCore { client, nested } in &self.of_cores {
            client.leave(origin);
            nested.leave(origin);
        }
    }
}

impl OfCore {
    fn new(client: Client) -> Self {
        Self { nested: client.nested(NESTED), client }
    }
}

/// One, and others while what is on it is ended.
const CONNECTIONS: usize = 4;

/// Streams with HTTP/1.1 on a connection: half of what a data centre allows.
const NESTED: usize = http::limits::STREAMS as usize / 2;

/// Cores that have connections of their own; of more, some share one.
pub(super) const MOST_CORES: usize = 8;

/// How long opening one may take; then it is tried again.
const OPENING: Duration = Duration::from_secs(10);

/// Bytes of a tunnel that may wait here for a visitor who does not read, and tunnels on a connection: as many streams as a data centre allows. All of
/// them together have no room but their own, so that one that is not read holds up none of the others.
const OF_TUNNEL: u32 = 64 << 10;
const MOST_TUNNELS: u32 = http::limits::STREAMS;

/// Requests that may wait for a stream: as many as visitors may wait for an origin.
const WAITING: usize = 20_000;
