//! MPTCP connections above TCP sockets: what a subflow tells of the connection that it belongs to, and that connection.
//!
//! A subflow's own queues do not tell how fast its connection is: what comes goes on into the connection's queue, and the
//! window that is advertised is the connection's.

use super::message::{
    AF_INET, DIAG_HEADER, INET_DIAG_INFO, INET_DIAG_SKMEMINFO, memory, request as request_for,
};
use super::{Memory, States};
use crate::netlink::{array, attributes};

/// An MPTCP connection, as far as it holds up its subflows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Multipath {
    /// Its memory: what was received and not read (`rmem_alloc`, metadata included), and the most that may be (`rcvbuf`).
    pub memory: Memory,
    /// Bytes that its program has written and the peer has not acknowledged for the connection, sent or not.
    pub pending: u64,
}

impl Multipath {
    /// The connection in an answer of sock_diag: a `struct inet_diag_msg` and the attributes after it, of which `struct
    /// mptcp_info` is one. None if either is cut off.
    pub fn decode(message: &[u8]) -> Option<Self> {
        let find = |wanted| {
            let mut all = attributes(message.get(DIAG_HEADER..)?);
            all.find(|&(kind, _)| kind == wanted).map(|(_, value)| value)
        };
        let info = find(INET_DIAG_INFO)?;
        let number = |offset| array(info, offset).map(u64::from_ne_bytes);
        Some(Self {
            memory: memory(find(INET_DIAG_SKMEMINFO)?)?,
            pending: number(WRITE_SEQ)?.wrapping_sub(number(SND_UNA)?),
        })
    }
}

/// A request for the connection with this token: the kernel takes it where a cookie would be.
pub(super) fn request(token: u32) -> Vec<u8> {
    let mut id = [0; 48];
    id[COOKIE..COOKIE + 4].copy_from_slice(&token.to_ne_bytes());
    request_for(AF_INET, IPPROTO_MPTCP, States::ALL, Some(&id))
}

/// Of `idiag_cookie` in `struct inet_diag_sockid`.
const COOKIE: usize = 40;
// linux/mptcp.h: offsets of mptcpi_write_seq and mptcpi_snd_una.
const WRITE_SEQ: usize = 16;
const SND_UNA: usize = 24;
const IPPROTO_MPTCP: u32 = 262;
