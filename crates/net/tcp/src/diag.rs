//! The kernel's list of TCP sockets with all their attributes (sock_diag(7)).
//!
//! - [`Diag`]: start here. Lists all sockets of a network namespace, or polls one of them.
//! - [`Socket`]: one socket. Attributes that the kernel lacks are absent.

mod message;
mod multipath;
#[cfg(test)]
mod tests;

use std::{net::SocketAddr, os::fd::AsFd};

use netlink_sys::protocols::NETLINK_SOCK_DIAG;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use self::message::{
    DIAG_HEADER, FAMILIES, INET_DIAG_INFO, INET_DIAG_ULP_INFO, IPPROTO_TCP, SOCK_DIAG_BY_FAMILY, request,
    socket,
};
pub use self::multipath::Multipath;
use crate::{
    error::{Doing, Error},
    info::Info,
    netlink::{Answer, Netlink},
    sys,
};

/// The state of a connection (RFC 9293, section 3.3.2), with two additional states of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Both ends can send.
    Established = 1,
    /// The SYN was sent and has not been acknowledged.
    SynSent,
    /// A SYN was received, and the SYN-ACK was sent.
    SynReceived,
    /// This end has sent a FIN, which is not acknowledged yet.
    FinWait1,
    /// This end's FIN is acknowledged.
    FinWait2,
    /// Both ends have closed, and the last acknowledgement may have been lost.
    TimeWait,
    /// No connection.
    Closed,
    /// The peer has closed, and this end has not.
    CloseWait,
    /// The peer closed first; this end's FIN is not acknowledged yet.
    LastAck,
    /// A listening socket.
    Listen,
    /// Both ends have closed simultaneously.
    Closing,
    /// As [`State::SynReceived`], before a socket exists.
    NewSynReceived,
}

/// A set of states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct States(u32);

/// A TCP socket with the attributes that the kernel reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Socket {
    /// The key for finding it again.
    pub key: Key,
    /// The local address.
    pub local: SocketAddr,
    /// The remote address.
    pub remote: SocketAddr,
    /// Its state.
    pub state: State,
    /// The inode, by which its processes are found; 0 if no process has it open.
    pub inode: u64,
    /// The user who opened it.
    pub uid: u32,
    /// The running timer: 0 none, 1 retransmission, 2 keep-alive or delayed acknowledgement, 3 `TIME_WAIT`, 4
    /// window probe.
    pub timer: u8,
    /// Bytes received and not read by the application. For a listening socket: connections that wait to be
    /// accepted.
    pub receive_queue: u32,
    /// Bytes written by the application and not acknowledged. For a listening socket: the limit of its queue.
    pub send_queue: u32,
    /// Its `tcp_info`. Absent for sockets without, such as in `TIME_WAIT`.
    pub info: Option<Info>,
    /// Its memory.
    pub memory: Option<Memory>,
    /// The name of its congestion control.
    pub congestion: Option<String>,
    /// The state of its congestion control.
    pub model: Option<Model>,
    /// For a subflow of an MPTCP connection, that connection's token at this end.
    pub mptcp_token: Option<u32>,
}

/// The kernel's key of a socket: family, addresses, device and cookie. Only valid in the same namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    family: u8,
    id: [u8; 48],
}

/// Memory of a socket in bytes (`sk_meminfo`), including the kernel's metadata.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// `r`: received, in order or not, and not read.
    pub rmem_alloc: u32,
    /// `rb`: limit of the receive buffer.
    pub rcvbuf: u32,
    /// `t`: in this machine's own transmit queues.
    pub wmem_alloc: u32,
    /// `tb`: limit of the send buffer.
    pub sndbuf: u32,
    /// `f`: preallocated for further data.
    pub fwd_alloc: u32,
    /// `w`: written and not acknowledged.
    pub wmem_queued: u32,
    /// `o`: options and filters.
    pub optmem: u32,
    /// `bl`: received while the application held the socket lock.
    pub backlog: u32,
    /// `d`: packets dropped. Absent before Linux 4.8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drops: Option<u32>,
}

impl Memory {
    /// The memory of a socket of this process. `None` on kernels older than Linux 4.8.
    pub fn of(socket: impl AsFd) -> Result<Option<Self>, Error> {
        let numbers = sys::memory(socket).doing(|| "read a socket's memory".to_owned())?;
        Ok(message::memory(&numbers))
    }
}

/// The state of a congestion control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// BBR.
    Bbr {
        /// Its estimate of the bottleneck, bytes per second.
        bandwidth: u64,
        /// Its estimate of the round trip without queues, us.
        min_rtt_us: u32,
        /// The gain of the pacing rate, in 256ths.
        pacing_gain: u32,
        /// The gain of the congestion window, in 256ths.
        cwnd_gain: u32,
    },
    /// Vegas, and algorithms with the same report: Illinois, Westwood, Veno, ...
    Vegas {
        /// Whether it is active.
        is_enabled: bool,
        /// Round trips measured since the latest decision.
        rounds: u32,
        /// For Vegas the minimum since it began, for others the mean or the latest, us.
        rtt_us: u32,
        /// The minimum; for Vegas since its latest decision, us; 2147483647 if there is no measurement yet.
        min_rtt_us: u32,
    },
    /// DCTCP (RFC 8257).
    Dctcp {
        /// Whether it is active.
        is_enabled: bool,
        /// Whether the last segment was marked.
        is_marked: bool,
        /// The share of marked bytes, in 1024ths.
        alpha: u32,
        /// Bytes marked in this round trip.
        marked_bytes: u32,
        /// Bytes acknowledged in this round trip.
        total_bytes: u32,
    },
}

/// A query socket for the TCP sockets of the network namespace in which it was opened.
#[derive(Debug)]
pub struct Diag(Netlink);

impl Diag {
    /// Opens it in the calling thread's network namespace.
    pub fn open() -> Result<Self, Error> {
        Netlink::open(NETLINK_SOCK_DIAG).map(Self).doing(|| "open a netlink socket".to_owned())
    }

    /// Calls `each` for each socket in one of these states.
    pub fn all(&self, states: States, mut each: impl FnMut(Socket)) -> Result<(), Error> {
        for family in FAMILIES {
            let request = request(family, IPPROTO_TCP, states, None);
            let hand = |message: &[u8]| socket(message).into_iter().for_each(&mut each);
            self.0.ask(SOCK_DIAG_BY_FAMILY, Answer::All, &request, hand).doing(|| LIST.to_owned())?;
        }
        Ok(())
    }

    /// The current state of a known socket; `None` if it no longer exists.
    pub fn again(&self, key: &Key) -> Result<Option<Socket>, Error> {
        let request = request(key.family, IPPROTO_TCP, States::ALL, Some(&key.id));
        let mut found = None;
        match self.0.ask(SOCK_DIAG_BY_FAMILY, Answer::One, &request, |message| found = socket(message)) {
            // ESTALE: the same addresses belong to a new socket.
            Err(error) if [Some(libc::ENOENT), Some(libc::ESTALE)].contains(&error.raw_os_error()) => {
                Ok(None)
            }
            other => other.map(|()| found).doing(|| LIST.to_owned()),
        }
    }

    /// The MPTCP connection with this token; `None` if it no longer exists, or the kernel has no MPTCP.
    pub fn multipath(&self, token: u32) -> Result<Option<Multipath>, Error> {
        let mut found = None;
        let request = multipath::request(token);
        let answered = self.0.ask(SOCK_DIAG_BY_FAMILY, Answer::One, &request, |message| {
            found = Multipath::decode(message);
        });
        match answered {
            // ENOENT: it no longer exists, or the MPTCP module is missing; EOPNOTSUPP: the kernel was built
            // without MPTCP.
            Err(error) if [Some(libc::ENOENT), Some(libc::EOPNOTSUPP)].contains(&error.raw_os_error()) => {
                Ok(None)
            }
            other => other.map(|()| found).doing(|| LIST.to_owned()),
        }
    }

    /// The connection between two addresses, as seen from this end; `None` if it does not exist.
    pub fn between(&self, local: SocketAddr, remote: SocketAddr) -> Result<Option<Socket>, Error> {
        let found = self.again(&Key::between(local, remote))?;
        // Without a connection the kernel returns the listening socket of the local address.
        Ok(found.filter(|socket| socket.state != State::Listen && socket.remote.port() == remote.port()))
    }
}

impl Socket {
    /// Decodes a reply of sock_diag: a `struct inet_diag_msg` and the attributes after it. `None` if it is
    /// truncated, or has an invalid state or family. Invalid attributes are absent.
    pub fn decode(message: &[u8]) -> Option<Self> {
        socket(message)
    }
}

impl State {
    pub(crate) fn of(number: u8) -> Option<Self> {
        Self::EVERY.into_iter().find(|state| *state as u8 == number)
    }

    const EVERY: [Self; 12] = [
        Self::Established,
        Self::SynSent,
        Self::SynReceived,
        Self::FinWait1,
        Self::FinWait2,
        Self::TimeWait,
        Self::Closed,
        Self::CloseWait,
        Self::LastAck,
        Self::Listen,
        Self::Closing,
        Self::NewSynReceived,
    ];
}

impl States {
    /// Every state.
    pub const ALL: Self = Self(0x1fff);

    /// The states of connections: all except `TimeWait`, `Closed` and `Listen`.
    pub const CONNECTED: Self = Self(0x1fff & !(1 << 6 | 1 << 7 | 1 << 10));

    /// The states of connections, and listening sockets.
    pub const CONNECTED_OR_LISTENING: Self = Self(Self::CONNECTED.0 | 1 << 10);

    /// Only these states.
    pub fn only(states: &[State]) -> Self {
        Self(states.iter().fold(0, |set, state| set | 1 << *state as u8))
    }
}

impl Key {
    pub(crate) fn between(local: SocketAddr, remote: SocketAddr) -> Self {
        message::key(local, remote)
    }
}

const LIST: &str = "list the TCP connections (CONFIG_INET_DIAG, module tcp_diag)";
