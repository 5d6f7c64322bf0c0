//! TCP sockets as the kernel lists them, with everything that it tells of each (sock_diag(7)).
//!
//! - [`Diag`]: start here. All sockets of a network namespace, or one of them again and again.
//! - [`Socket`]: what is told of one. Attributes that a kernel does not have are absent.

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

/// The state of a connection (RFC 9293, section 3.3.2), and two of the kernel's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Both ends can send.
    Established = 1,
    /// The first packet was sent and not answered yet.
    SynSent,
    /// The first packet has come and was answered.
    SynReceived,
    /// This end has closed, and the peer does not know yet.
    FinWait1,
    /// This end has closed, and the peer knows.
    FinWait2,
    /// Both have closed, and the last acknowledgement may have been lost.
    TimeWait,
    /// No connection.
    Closed,
    /// The peer has closed, and this end has not.
    CloseWait,
    /// Both have closed, this end last, and the peer does not know yet.
    LastAck,
    /// Waits for connections.
    Listen,
    /// Both have closed at the same time.
    Closing,
    /// As [`State::SynReceived`], before there is a socket.
    NewSynReceived,
}

/// A set of states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct States(u32);

/// A TCP socket, and what the kernel tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Socket {
    /// By what the kernel finds it again.
    pub key: Key,
    /// This end.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
    /// Its state.
    pub state: State,
    /// By this number the processes that have it open are found; 0: none has.
    pub inode: u64,
    /// The user who opened it.
    pub uid: u32,
    /// What runs: 0 no timer, 1 retransmission, 2 keep-alive or delayed acknowledgement, 3 `TIME_WAIT`, 4 window probe.
    pub timer: u8,
    /// Bytes received and not read by the application. Of a listening socket: connections that wait to be accepted.
    pub receive_queue: u32,
    /// Bytes written by the application and not acknowledged. Of a listening socket: how many may wait.
    pub send_queue: u32,
    /// What its TCP tells. Absent for sockets without, as in `TIME_WAIT`.
    pub info: Option<Info>,
    /// Its memory.
    pub memory: Option<Memory>,
    /// Its congestion control.
    pub congestion: Option<String>,
    /// What its congestion control tells.
    pub model: Option<Model>,
    /// If it is a subflow of an MPTCP connection, that connection's token at this end.
    pub mptcp_token: Option<u32>,
}

/// What the kernel finds a socket by: its family, addresses, device and cookie. Only good for the namespace it came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    family: u8,
    id: [u8; 48],
}

/// Memory of a socket in bytes (`sk_meminfo`), kernel's metadata included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// `r`: received, in order or not, and not read.
    pub rmem_alloc: u32,
    /// `rb`: the most that may be.
    pub rcvbuf: u32,
    /// `t`: on its way through this machine's own queues.
    pub wmem_alloc: u32,
    /// `tb`: the most that may be written and not acknowledged.
    pub sndbuf: u32,
    /// `f`: set aside for what comes next.
    pub fwd_alloc: u32,
    /// `w`: written and not acknowledged.
    pub wmem_queued: u32,
    /// `o`: options and filters.
    pub optmem: u32,
    /// `bl`: received while the application held the socket.
    pub backlog: u32,
    /// `d`: packets dropped. Absent before Linux 4.8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drops: Option<u32>,
}

impl Memory {
    /// Of a socket of this process. None of a kernel that tells less than Linux 4.8.
    pub fn of(socket: impl AsFd) -> Result<Option<Self>, Error> {
        let numbers = sys::memory(socket).doing(|| "ask for a socket's memory".to_owned())?;
        Ok(message::memory(&numbers))
    }
}

/// What a congestion control tells of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// BBR.
    Bbr {
        /// Its estimate of the bottleneck, bytes per second.
        bandwidth: u64,
        /// Its estimate of the round trip without queues, us.
        min_rtt_us: u32,
        /// What it multiplies the pacing rate by, in 256ths.
        pacing_gain: u32,
        /// What it multiplies the window by, in 256ths.
        cwnd_gain: u32,
    },
    /// Vegas, and those that tell the same: Illinois, Westwood, Veno, ...
    Vegas {
        /// Whether it is at work.
        is_enabled: bool,
        /// Round trips measured since the latest decision.
        rounds: u32,
        /// Of Vegas the least since it began, of others the mean or the latest, us.
        rtt_us: u32,
        /// The least, of Vegas since its latest decision, us; 2147483647: none yet.
        min_rtt_us: u32,
    },
    /// DCTCP (RFC 8257).
    Dctcp {
        /// Whether it is at work.
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

/// A way to ask for the TCP sockets of the network namespace in which it was opened.
#[derive(Debug)]
pub struct Diag(Netlink);

impl Diag {
    /// Asks in the calling thread's network namespace from now on.
    pub fn open() -> Result<Self, Error> {
        Netlink::open(NETLINK_SOCK_DIAG).map(Self).doing(|| "open a netlink socket".to_owned())
    }

    /// Hands each socket in one of these states to `each`.
    pub fn all(&self, states: States, mut each: impl FnMut(Socket)) -> Result<(), Error> {
        for family in FAMILIES {
            let request = request(family, IPPROTO_TCP, states, None);
            let hand = |message: &[u8]| socket(message).into_iter().for_each(&mut each);
            self.0.ask(SOCK_DIAG_BY_FAMILY, Answer::All, &request, hand).doing(|| LIST.to_owned())?;
        }
        Ok(())
    }

    /// A socket that was seen before; none if it has gone.
    pub fn again(&self, key: &Key) -> Result<Option<Socket>, Error> {
        let request = request(key.family, IPPROTO_TCP, States::ALL, Some(&key.id));
        let mut found = None;
        match self.0.ask(SOCK_DIAG_BY_FAMILY, Answer::One, &request, |message| found = socket(message)) {
            // The other: its number was given to a new one.
            Err(error) if [Some(libc::ENOENT), Some(libc::ESTALE)].contains(&error.raw_os_error()) => {
                Ok(None)
            }
            other => other.map(|()| found).doing(|| LIST.to_owned()),
        }
    }

    /// The MPTCP connection with this token; none if it has gone, or the kernel has no MPTCP.
    pub fn multipath(&self, token: u32) -> Result<Option<Multipath>, Error> {
        let mut found = None;
        let request = multipath::request(token);
        let answered = self.0.ask(SOCK_DIAG_BY_FAMILY, Answer::One, &request, |message| {
            found = Multipath::decode(message);
        });
        match answered {
            // ENOENT: it has gone, or no module answers for MPTCP; EOPNOTSUPP: the kernel was built without.
            Err(error) if [Some(libc::ENOENT), Some(libc::EOPNOTSUPP)].contains(&error.raw_os_error()) => {
                Ok(None)
            }
            other => other.map(|()| found).doing(|| LIST.to_owned()),
        }
    }

    /// The connection between two addresses as this end sees it; none if there is none.
    pub fn between(&self, local: SocketAddr, remote: SocketAddr) -> Result<Option<Socket>, Error> {
        let found = self.again(&Key::between(local, remote))?;
        // Without a connection the kernel answers with the socket that listens there.
        Ok(found.filter(|socket| socket.state != State::Listen && socket.remote.port() == remote.port()))
    }
}

impl Socket {
    /// The socket in an answer of sock_diag: a `struct inet_diag_msg` and the attributes after it. None if it is cut off, or
    /// of a state or family that TCP does not have. Attributes that make no sense are absent.
    pub fn decode(message: &[u8]) -> Option<Self> {
        socket(message)
    }
}

impl State {
    /// The state that the kernel means by a number.
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

    /// Those of connections: all but `TimeWait`, `Closed` and `Listen`.
    pub const CONNECTED: Self = Self(0x1fff & !(1 << 6 | 1 << 7 | 1 << 10));

    /// Those of connections, and those that wait for connections.
    pub const CONNECTED_OR_LISTENING: Self = Self(Self::CONNECTED.0 | 1 << 10);

    /// Of these only.
    pub fn only(states: &[State]) -> Self {
        Self(states.iter().fold(0, |set, state| set | 1 << *state as u8))
    }
}

impl Key {
    /// Of the connection between two addresses, whatever its cookie is.
    pub(crate) fn between(local: SocketAddr, remote: SocketAddr) -> Self {
        message::key(local, remote)
    }
}

const LIST: &str = "list the TCP connections (CONFIG_INET_DIAG, module tcp_diag)";
