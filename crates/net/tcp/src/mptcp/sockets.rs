//! The kernel's list of MPTCP connections and their subflows (sock_diag(7)).

use std::{collections::BTreeSet, net::SocketAddr};

use netlink_sys::protocols::NETLINK_SOCK_DIAG;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Subflow, network::Network};
use crate::{
    diag::{
        self, DIAG_HEADER, FAMILIES, INET_DIAG_INFO, INET_DIAG_ULP_INFO, IPPROTO_TCP, SOCK_DIAG_BY_FAMILY,
        States, request,
    },
    error::{Doing, Error},
    netlink::{Answer, Netlink, array, attributes},
};

/// The state of a connection (RFC 9293, section 3.3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Both ends can send.
    Established,
    /// The SYN was sent and has not been acknowledged.
    SynSent,
    /// A SYN was received, and the SYN-ACK was sent.
    SynReceived,
    /// An end is closing.
    Closing,
}

/// How a subflow was created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The first subflow, opened by this end.
    FirstOpened,
    /// The first subflow, opened by the peer.
    FirstAccepted,
    /// Joined by this end.
    Joined,
    /// Joined by the peer.
    JoinAccepted,
}

/// The result of a connection's handshake, as known at this end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Handshake {
    /// Both ends requested MPTCP.
    Agreed,
    /// This end requested MPTCP, and the peer's reply did not include it.
    NotAnswered,
    /// This end's SYN, or its retransmission that was acknowledged, did not request MPTCP.
    NotAsked,
}

#[derive(Debug, Default)]
pub(super) struct Seen {
    pub connections: Vec<SeenConnection>,
    pub subflows: Vec<SeenSubflow>,
    pub plain: Vec<Socket>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Socket {
    pub local: SocketAddr,
    pub remote: SocketAddr,
    pub state: State,
    pub inode: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SeenConnection {
    pub local: SocketAddr,
    pub remote: SocketAddr,
    pub state: State,
    pub inode: u64,
    pub token: u32,
    pub is_fallback: bool,
    pub further: u8,
    pub most_further: u8,
    pub accepted: (u8, u8),
    pub tried: u8,
    pub bytes_sent: u64,
    pub bytes_received: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SeenSubflow {
    pub socket: Socket,
    pub token: u32,
    pub origin: Origin,
    pub handshake: Option<Handshake>,
    pub is_backup: bool,
    pub bytes_sent: u64,
    pub bytes_received: u64,
}

pub(super) fn read() -> Result<Seen, Error> {
    let netlink = Netlink::open(NETLINK_SOCK_DIAG).doing(|| "open a netlink socket".to_owned())?;
    let mut seen = Seen::default();
    for family in FAMILIES {
        let request = |protocol| request(family, protocol, States::CONNECTED, None);
        netlink
            .ask(SOCK_DIAG_BY_FAMILY, Answer::All, &request(IPPROTO_MPTCP), |message| {
                seen.connections.extend(connection(message));
            })
            .doing(|| "list the MPTCP connections (CONFIG_INET_MPTCP_DIAG, module mptcp_diag)".to_owned())?;
        netlink
            .ask(SOCK_DIAG_BY_FAMILY, Answer::All, &request(IPPROTO_TCP), |message| match subflow(message) {
                Some(subflow) => seen.subflows.push(subflow),
                None => seen.plain.extend(socket(message)),
            })
            .doing(|| "list the TCP connections (CONFIG_INET_DIAG, module tcp_diag)".to_owned())?;
    }
    seen.add_plain_from_the_start();
    // Without privileges older kernels do not mark subflows; a subflow has the inode of its connection.
    let own: BTreeSet<_> = seen.connections.iter().map(|connection| connection.inode).collect();
    seen.plain.retain(|plain| plain.state == State::Established && !own.contains(&plain.inode));
    Ok(seen)
}

impl Seen {
    /// A connection that the kernel opened with plain TCP although MPTCP was requested has no token and is
    /// missing in the list of MPTCP. Its only TCP connection is still marked as a subflow.
    fn add_plain_from_the_start(&mut self) {
        let orphans = self
            .subflows
            .iter()
            .filter(|subflow| subflow.token == 0 && subflow.handshake == Some(Handshake::NotAsked));
        self.connections.extend(orphans.map(|subflow| {
            let Socket { local, remote, state, inode } = subflow.socket;
            SeenConnection {
                local,
                remote,
                state,
                inode,
                token: 0,
                is_fallback: true,
                further: 0,
                most_further: 0,
                accepted: (0, 0),
                tried: 0,
                bytes_sent: subflow.bytes_sent,
                bytes_received: subflow.bytes_received,
            }
        }));
    }
}

impl SeenSubflow {
    /// A subflow without a token is its connection's only one.
    pub(super) fn is_of(&self, connection: &SeenConnection) -> bool {
        let Socket { local, remote, .. } = self.socket;
        self.token == connection.token
            && (self.token != 0 || (local, remote) == (connection.local, connection.remote))
    }

    pub(super) fn describe(&self, network: &Network) -> Subflow {
        let Socket { local, remote, state, .. } = self.socket;
        let device = network.device_of(local.ip(), remote.ip());
        let Self { origin, handshake, is_backup, .. } = *self;
        Subflow { local, remote, device, state, origin, handshake, is_backup }
    }
}

fn socket(message: &[u8]) -> Option<Socket> {
    let diag::Socket { local, remote, state, inode, .. } = diag::socket(message)?;
    let state = match state {
        diag::State::Established => State::Established,
        diag::State::SynSent => State::SynSent,
        diag::State::SynReceived | diag::State::NewSynReceived => State::SynReceived,
        _ => State::Closing,
    };
    Some(Socket { local, remote, state, inode })
}

fn connection(message: &[u8]) -> Option<SeenConnection> {
    let Socket { local, remote, state, inode } = socket(message)?;
    let (_, info) = attributes(message.get(DIAG_HEADER..)?).find(|&(kind, _)| kind == INET_DIAG_INFO)?;
    let [further, _, accepted, most_further, _, most_accepted] = array(info, 0)?;
    let flags = u32::from_ne_bytes(array(info, 8)?);
    let token = u32::from_ne_bytes(array(info, 12)?);
    let later = |offset| array(info, offset).map_or(0, u64::from_ne_bytes);
    Some(SeenConnection {
        local,
        remote,
        state,
        inode,
        token,
        is_fallback: flags & INFO_FLAG_FALLBACK != 0,
        further,
        most_further,
        accepted: (accepted, most_accepted),
        tried: array(info, 40).map_or(0, |[tried]: [u8; 1]| tried),
        bytes_sent: later(56),
        bytes_received: later(64),
    })
}

fn subflow(message: &[u8]) -> Option<SeenSubflow> {
    let find = |bytes, wanted| attributes(bytes).find(|&(kind, _)| kind == wanted).map(|(_, value)| value);
    let upper = find(message.get(DIAG_HEADER..)?, INET_DIAG_ULP_INFO)?;
    let inner = find(upper, INET_ULP_INFO_MPTCP)?;
    let number = |wanted| find(inner, wanted).and_then(|value| array(value, 0)).map(u32::from_ne_bytes);
    let flags = number(SUBFLOW_FLAGS)?;
    let has = |flag| flags & flag != 0;
    // An end that accepts plain TCP has no MPTCP socket for it: this end opened a first subflow without any
    // flag.
    let (origin, handshake) =
        match (has(JOIN_LOCAL), has(JOIN_REMOTE), has(CAPABLE_LOCAL), has(CAPABLE_REMOTE)) {
            (true, ..) => (Origin::Joined, None),
            (false, true, ..) => (Origin::JoinAccepted, None),
            (false, false, true, true) => (Origin::FirstOpened, Some(Handshake::Agreed)),
            (false, false, true, false) => (Origin::FirstOpened, Some(Handshake::NotAnswered)),
            (false, false, false, false) => (Origin::FirstOpened, Some(Handshake::NotAsked)),
            (false, false, false, true) => (Origin::FirstAccepted, Some(Handshake::Agreed)),
        };
    let told = diag::socket(message)?.info;
    let told = told.as_ref().and_then(|info| Some((info.bytes_sent?, info.bytes_received)));
    let (bytes_sent, bytes_received) = told.unwrap_or_default();
    Some(SeenSubflow {
        socket: socket(message)?,
        bytes_sent,
        bytes_received,
        token: number(SUBFLOW_TOKEN_LOCAL)?,
        origin,
        handshake,
        is_backup: has(BACKUP_LOCAL | BACKUP_REMOTE),
    })
}

// linux/inet_diag.h
const INET_ULP_INFO_MPTCP: u16 = 3;
const IPPROTO_MPTCP: u32 = 262;

// linux/mptcp.h
const INFO_FLAG_FALLBACK: u32 = 1;
const SUBFLOW_TOKEN_LOCAL: u16 = 2;
const SUBFLOW_FLAGS: u16 = 8;
const CAPABLE_REMOTE: u32 = 1;
const CAPABLE_LOCAL: u32 = 2;
const JOIN_REMOTE: u32 = 4;
const JOIN_LOCAL: u32 = 8;
const BACKUP_REMOTE: u32 = 16;
const BACKUP_LOCAL: u32 = 32;

#[cfg(test)]
mod tests;
