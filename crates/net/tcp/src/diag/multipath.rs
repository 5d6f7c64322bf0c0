//! MPTCP connections above TCP sockets: the token of a subflow's connection, and the state of that
//! connection.
//!
//! The queues of a subflow do not show the speed of its connection.

use super::message::{
    AF_INET, DIAG_HEADER, INET_DIAG_INFO, INET_DIAG_SKMEMINFO, memory, request as request_for,
};
use super::{Memory, States};
use crate::netlink::{array, attributes};

/// The state of an MPTCP connection that can limit its subflows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Multipath {
    /// Its memory: data received and not read (`rmem_alloc`, including metadata), and the limit (`rcvbuf`).
    pub memory: Memory,
    /// Bytes that its program has written and the peer has not acknowledged on the connection level, sent or
    /// not.
    pub pending: u64,
}

impl Multipath {
    /// Decodes a reply of sock_diag: a `struct inet_diag_msg` and the attributes after it, with a
    /// `struct mptcp_info`. `None` if either is truncated.
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

/// The token is passed in the field of the cookie.
pub(super) fn request(token: u32) -> Vec<u8> {
    let mut id = [0; 48];
    id[COOKIE..COOKIE + 4].copy_from_slice(&token.to_ne_bytes());
    request_for(AF_INET, IPPROTO_MPTCP, States::ALL, Some(&id))
}

const COOKIE: usize = 40;
// linux/mptcp.h: offsets of mptcpi_write_seq and mptcpi_snd_una.
const WRITE_SEQ: usize = 16;
const SND_UNA: usize = 24;
const IPPROTO_MPTCP: u32 = 262;
