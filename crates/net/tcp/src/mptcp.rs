//! Multipath TCP (RFC 8684): one connection over several paths, and the reason if it has only one.
//!
//! [`Auditor`] reads the kernel's state, once or repeatedly; `cause` (pure) derives the cause, and `account`
//! (pure) relates counters to one connection. Nothing is changed.

mod account;
mod cause;
mod network;
mod path_manager;
mod sockets;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    net::SocketAddr,
};

use schemars::JsonSchema;
use serde::Serialize;

use self::{account::Account, sockets::SeenConnection};
pub use self::{
    account::{Counted, Since},
    cause::{Cause, Finding},
    network::Address,
    path_manager::{Endpoint, Limits, PathManager, Purpose},
    sockets::{Handshake, Origin, State},
};
use crate::{
    counters::{Counters, Source},
    error::{Doing, Error},
    processes::Processes,
};

/// Selects connections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only connections of this process.
    pub pid: Option<u32>,
    /// Only connections with this port at either end.
    pub port: Option<u16>,
}

/// The state of MPTCP in a network namespace.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Audit {
    /// The schema of this object.
    pub schema: &'static str,
    /// Whether programs may open MPTCP sockets (`net.mptcp.enabled`).
    pub is_enabled: bool,
    /// Limits of further subflows and addresses per connection.
    pub limits: Limits,
    /// Addresses that MPTCP may use in addition to a connection's own.
    pub endpoints: Vec<Endpoint>,
    /// The namespace's addresses, without loopback and link-local ones.
    pub addresses: Vec<Address>,
    /// The kernel's MPTCP counters that are not 0, for the whole namespace since its creation.
    pub counters: BTreeMap<String, u64>,
    /// Number of TCP connections whose programs did not request MPTCP.
    pub plain_tcp: usize,
    /// The MPTCP connections.
    pub connections: Vec<Connection>,
}

/// An MPTCP connection.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Connection {
    /// The local address, as the program sees it.
    pub local: SocketAddr,
    /// The remote address, as the program sees it.
    pub remote: SocketAddr,
    /// Its state.
    pub state: State,
    /// The token with which further subflows join it here; 8 hexadecimal digits. 00000000: it was plain TCP
    /// from its first packet.
    pub token: String,
    /// Whether it has permanently fallen back to plain TCP.
    pub is_fallback: bool,
    /// Payload sent, bytes; 0 before Linux 6.5, which does not report it.
    pub bytes_sent: u64,
    /// Payload received, bytes; 0 before Linux 6.5, which does not report it.
    pub bytes_received: u64,
    /// Its subflows, the first one first. Empty if the kernel shows them to privileged users only.
    pub subflows: Vec<Subflow>,
    /// Whether at least two subflows are established.
    pub has_second: bool,
    /// The scope of the counters in its evidence.
    pub counted: Counted,
    /// The reason for a missing second subflow, or the problem of the second one.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "cause::document")]
    #[schemars(with = "Option<cause::Document<'static>>")]
    pub finding: Option<Finding>,
}

/// A TCP connection that carries a part of an MPTCP connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Subflow {
    /// The local address.
    pub local: SocketAddr,
    /// The remote address.
    pub remote: SocketAddr,
    /// The current outgoing device. Absent if the kernel has no route.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Its state.
    pub state: State,
    /// How it was created.
    pub origin: Origin,
    /// For a connection's first subflow: the result of the handshake.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handshake: Option<Handshake>,
    /// Whether either end wants it to carry data only when the others are gone.
    pub is_backup: bool,
}

#[derive(Debug, Default)]
struct Surroundings {
    endpoints: Vec<Endpoint>,
    addresses: Vec<Address>,
}

impl Connection {
    fn of(
        seen: &SeenConnection,
        subflows: Vec<Subflow>,
        surroundings: &Surroundings,
        account: &Account,
    ) -> Self {
        let established = subflows.iter().filter(|subflow| subflow.state == State::Established).count();
        let has_second =
            !seen.is_fallback && if subflows.is_empty() { seen.further > 0 } else { established > 1 };
        let finding = if has_second {
            cause::of_second(&subflows)
        } else {
            Some(cause::of_one(seen, &subflows, surroundings, account))
        };
        Self {
            local: seen.local,
            remote: seen.remote,
            state: seen.state,
            token: format!("{:08x}", seen.token),
            is_fallback: seen.is_fallback,
            bytes_sent: seen.bytes_sent,
            bytes_received: seen.bytes_received,
            subflows,
            has_second,
            counted: account.counted,
            finding,
        }
    }
}

impl Audit {
    /// Whether there are connections, and each has a second subflow.
    pub fn is_well(&self) -> bool {
        !self.connections.is_empty() && self.connections.iter().all(|connection| connection.has_second)
    }
}

/// Reads the MPTCP connections of the calling thread's network namespace, once.
pub fn audit(filter: Filter) -> Result<Audit, Error> {
    Auditor::new(filter).look()
}

/// Reads repeatedly. For a connection that began between two reads, counters are relative to the first of
/// them.
#[derive(Debug)]
pub struct Auditor {
    filter: Filter,
    earlier: Option<Counters>,
    /// The connections of the previous read, each with the counters before it began.
    known: BTreeMap<Name, Option<Counters>>,
}

type Name = (SocketAddr, SocketAddr, u32);

impl Auditor {
    /// An auditor for these connections.
    pub fn new(filter: Filter) -> Self {
        Self { filter, earlier: None, known: BTreeMap::new() }
    }

    /// Reads the MPTCP connections of the calling thread's network namespace.
    pub fn look(&mut self) -> Result<Audit, Error> {
        let is_enabled = is_enabled()?;
        let Filter { pid, port } = self.filter;
        let own = pid.map(Processes::one).transpose()?;
        let is_wanted = |inode: u64, local: SocketAddr, remote: SocketAddr| {
            own.as_ref().is_none_or(|own| own.of(inode).is_some())
                && port.is_none_or(|port| [local.port(), remote.port()].contains(&port))
        };
        let paths = PathManager::open()?;
        let limits = paths.limits()?;
        let network = network::Network::open()?;
        let surroundings = Surroundings { endpoints: paths.endpoints()?, addresses: network.addresses()? };
        let counters = counters()?;
        let seen = sockets::read()?;
        let subflows = |connection: &SeenConnection| -> Vec<Subflow> {
            let own = seen.subflows.iter().filter(|subflow| subflow.is_of(connection));
            let mut own: Vec<_> = own.map(|subflow| subflow.describe(&network)).collect();
            own.sort_by_key(|subflow| (subflow.origin, subflow.local, subflow.remote));
            own
        };
        self.remember(&seen.connections);
        let wanted = seen.connections.iter().filter(|each| is_wanted(each.inode, each.local, each.remote));
        let connections = wanted.map(|each| {
            let before = self.known.get(&name(each)).and_then(Option::as_ref);
            Connection::of(each, subflows(each), &surroundings, &Account::new(&counters, before))
        });
        let connections = connections.collect();
        self.earlier = Some(counters.clone());
        let plain = seen.plain.iter().filter(|each| is_wanted(each.inode, each.local, each.remote));
        let plain_tcp = plain.filter(|each| !each.remote.ip().is_loopback()).count();
        let Surroundings { endpoints, addresses } = surroundings;
        let schema = "longhaul.tcp.mptcp/1";
        Ok(Audit { schema, is_enabled, limits, endpoints, addresses, counters, plain_tcp, connections })
    }

    fn remember(&mut self, connections: &[SeenConnection]) {
        let now: BTreeSet<_> = connections.iter().map(name).collect();
        self.known.retain(|name, _| now.contains(name));
        for name in now {
            self.known.entry(name).or_insert_with(|| self.earlier.clone());
        }
    }
}

fn name(connection: &SeenConnection) -> Name {
    (connection.local, connection.remote, connection.token)
}

fn is_enabled() -> Result<bool, Error> {
    match fs::read_to_string("/proc/sys/net/mptcp/enabled") {
        Ok(text) => Ok(text.trim() != "0"),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(Error::NoMptcp),
        Err(error) => Err(error).doing(|| "read net.mptcp.enabled".to_owned()),
    }
}

/// Without the counters that are 0.
fn counters() -> Result<BTreeMap<String, u64>, Error> {
    let mut counters = Source::open()?.read()?.mptcp;
    counters.retain(|_, number| *number != 0);
    Ok(counters)
}
