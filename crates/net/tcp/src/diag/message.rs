//! The messages of sock_diag: a request, and the reply with its attributes. Pure; replies are treated as
//! untrusted input.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::{Key, Memory, Model, Socket, State, States};
use crate::{
    info::Info,
    netlink::{Attributes, array, attributes},
};

pub(crate) fn request(family: u8, protocol: u32, states: States, id: Option<&[u8; 48]>) -> Vec<u8> {
    let mut header = [0; 56];
    header[0] = family;
    header[1] = protocol.to_le_bytes()[0];
    header[2] = EVERYTHING;
    header[4..8].copy_from_slice(&states.0.to_ne_bytes());
    header[8..].copy_from_slice(id.unwrap_or(&[0; 48]));
    Attributes::default().with(INET_DIAG_REQ_PROTOCOL, &protocol.to_ne_bytes()).after(&header)
}

pub(crate) fn socket(message: &[u8]) -> Option<Socket> {
    let [family, state, timer, _] = array(message, 0)?;
    let word = |offset| array(message, offset).map(u32::from_ne_bytes);
    let key = Key { family, id: array(message, 4)? };
    let mut socket = Socket {
        key,
        local: end(&key, 0, 4)?,
        remote: end(&key, 2, 20)?,
        state: State::of(state)?,
        timer,
        receive_queue: word(56)?,
        send_queue: word(60)?,
        uid: word(64)?,
        inode: word(68)?.into(),
        info: None,
        memory: None,
        congestion: None,
        model: None,
        mptcp_token: None,
    };
    for (kind, value) in attributes(message.get(DIAG_HEADER..)?) {
        match kind {
            INET_DIAG_INFO => socket.info = Info::decode(value),
            INET_DIAG_SKMEMINFO => socket.memory = memory(value),
            INET_DIAG_CONG => socket.congestion = name(value),
            INET_DIAG_VEGASINFO => socket.model = vegas(value),
            INET_DIAG_DCTCPINFO => socket.model = dctcp(value),
            INET_DIAG_BBRINFO => socket.model = bbr(value),
            INET_DIAG_ULP_INFO => socket.mptcp_token = token(value),
            _ => {}
        }
    }
    Some(socket)
}

fn end(key: &Key, port: usize, address: usize) -> Option<SocketAddr> {
    let ip = match key.family {
        AF_INET => IpAddr::V4(Ipv4Addr::from(array::<4>(&key.id, address)?)),
        // A dual-stack socket has IPv4-mapped IPv6 addresses.
        AF_INET6 => Ipv6Addr::from(array::<16>(&key.id, address)?).to_canonical(),
        _ => return None,
    };
    Some(SocketAddr::new(ip, u16::from_be_bytes(array(&key.id, port)?)))
}

pub(super) fn key(local: SocketAddr, remote: SocketAddr) -> Key {
    let mut id = [0; 48];
    let family = match (local.ip().to_canonical(), remote.ip().to_canonical()) {
        // The kernel finds a connection over IPv4 by its IPv4 addresses, even on a dual-stack socket.
        (IpAddr::V4(local), IpAddr::V4(remote)) => {
            id[4..8].copy_from_slice(&local.octets());
            id[20..24].copy_from_slice(&remote.octets());
            AF_INET
        }
        (local, remote) => {
            id[4..20].copy_from_slice(&octets(local));
            id[20..36].copy_from_slice(&octets(remote));
            AF_INET6
        }
    };
    id[0..2].copy_from_slice(&local.port().to_be_bytes());
    id[2..4].copy_from_slice(&remote.port().to_be_bytes());
    id[40..].fill(ANY_COOKIE);
    Key { family, id }
}

fn octets(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

pub(super) fn memory(value: &[u8]) -> Option<Memory> {
    let word = |index: usize| array(value, index * 4).map(u32::from_ne_bytes);
    Some(Memory {
        rmem_alloc: word(0)?,
        rcvbuf: word(1)?,
        wmem_alloc: word(2)?,
        sndbuf: word(3)?,
        fwd_alloc: word(4)?,
        wmem_queued: word(5)?,
        optmem: word(6)?,
        backlog: word(7)?,
        drops: word(8),
    })
}

/// `None` for other protocols on top of TCP.
fn token(upper: &[u8]) -> Option<u32> {
    let find = |bytes, wanted| attributes(bytes).find(|&(kind, _)| kind == wanted).map(|(_, value)| value);
    let inner = find(upper, INET_ULP_INFO_MPTCP)?;
    find(inner, SUBFLOW_TOKEN_LOCAL).and_then(|value| array(value, 0)).map(u32::from_ne_bytes)
}

fn name(value: &[u8]) -> Option<String> {
    let text = value.split(|byte| *byte == 0).next()?;
    String::from_utf8(text.to_vec()).ok().filter(|name| !name.is_empty())
}

/// `struct tcpvegas_info`.
fn vegas(value: &[u8]) -> Option<Model> {
    let word = |index: usize| array(value, index * 4).map(u32::from_ne_bytes);
    Some(Model::Vegas { is_enabled: word(0)? != 0, rounds: word(1)?, rtt_us: word(2)?, min_rtt_us: word(3)? })
}

/// `struct tcp_dctcp_info`.
fn dctcp(value: &[u8]) -> Option<Model> {
    let half = |offset| array(value, offset).map(u16::from_ne_bytes);
    let word = |offset| array(value, offset).map(u32::from_ne_bytes);
    Some(Model::Dctcp {
        is_enabled: half(0)? != 0,
        is_marked: half(2)? != 0,
        alpha: word(4)?,
        marked_bytes: word(8)?,
        total_bytes: word(12)?,
    })
}

/// `struct tcp_bbr_info`.
fn bbr(value: &[u8]) -> Option<Model> {
    let word = |index: usize| array(value, index * 4).map(u32::from_ne_bytes);
    let bandwidth = u64::from(word(1)?) << 32 | u64::from(word(0)?);
    Some(Model::Bbr { bandwidth, min_rtt_us: word(2)?, pacing_gain: word(3)?, cwnd_gain: word(4)? })
}

// linux/sock_diag.h, inet_diag.h
pub(crate) const SOCK_DIAG_BY_FAMILY: u16 = 20;
pub(crate) const DIAG_HEADER: usize = 72;
const INET_DIAG_REQ_PROTOCOL: u16 = 3;
pub(crate) const INET_DIAG_INFO: u16 = 2;
const INET_DIAG_VEGASINFO: u16 = 3;
const INET_DIAG_CONG: u16 = 4;
pub(super) const INET_DIAG_SKMEMINFO: u16 = 7;
const INET_DIAG_DCTCPINFO: u16 = 9;
const INET_DIAG_BBRINFO: u16 = 16;
pub(crate) const INET_DIAG_ULP_INFO: u16 = 19;
const INET_ULP_INFO_MPTCP: u16 = 3;
/// `VEGASINFO` requests the information of any of the three congestion controls.
const EVERYTHING: u8 = 1 << (INET_DIAG_INFO - 1)
    | 1 << (INET_DIAG_VEGASINFO - 1)
    | 1 << (INET_DIAG_CONG - 1)
    | 1 << (INET_DIAG_SKMEMINFO - 1);
const ANY_COOKIE: u8 = 0xff;
pub(crate) const IPPROTO_TCP: u32 = 6;

// linux/mptcp.h
const SUBFLOW_TOKEN_LOCAL: u16 = 2;

// sys/socket.h
pub(super) const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
pub(crate) const FAMILIES: [u8; 2] = [AF_INET, AF_INET6];
