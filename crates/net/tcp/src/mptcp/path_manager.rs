//! The kernel's path manager: addresses for further MPTCP subflows, and limits (ip-mptcp(8)).

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use netlink_sys::protocols::NETLINK_GENERIC;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    error::{Doing, Error},
    netlink::{Answer, Attributes, Netlink, array, attributes},
};

/// The path manager of the network namespace in which it was opened.
pub struct PathManager {
    netlink: Netlink,
    family: u16,
}

/// An address that MPTCP may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Endpoint {
    /// The address.
    pub address: IpAddr,
    /// The purpose.
    pub purpose: Purpose,
    /// Only used when all other subflows have ended.
    pub is_backup: bool,
}

/// The purpose of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// This end opens subflows from it.
    Subflow,
    /// It is announced to the peer, which may open subflows to it.
    Signal,
    /// Both.
    Both,
    /// The kernel created it for a connection, or it has an unknown flag.
    Other,
}

/// The limits of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Limits {
    /// Maximum number of subflows in addition to the first, opened by either end.
    pub subflows: u32,
    /// Maximum number of accepted addresses of the peer.
    pub accepted_addresses: u32,
}

impl PathManager {
    /// The path manager of the calling thread's network namespace.
    pub fn open() -> Result<Self, Error> {
        let netlink = Netlink::open(NETLINK_GENERIC).doing(|| "open a netlink socket".to_owned())?;
        let body = Attributes::default().with(CTRL_ATTR_FAMILY_NAME, b"mptcp_pm\0").after(&[
            CTRL_CMD_GETFAMILY,
            1,
            0,
            0,
        ]);
        let mut family = None;
        let asked = netlink.ask(GENL_ID_CTRL, Answer::One, &body, |reply| {
            family = family.or_else(|| family_id(reply));
        });
        match (asked, family) {
            (Err(error), _) if error.raw_os_error() != Some(libc::ENOENT) => {
                Err(error).doing(|| "find MPTCP's path manager".to_owned())
            }
            (Ok(()), Some(family)) => Ok(Self { netlink, family }),
            _ => Err(Error::NoMptcp),
        }
    }

    /// Permits MPTCP to use an address. Needs CAP_NET_ADMIN in the namespace, and is possible while
    /// connections are open.
    pub fn add(&self, endpoint: &Endpoint) -> Result<(), Error> {
        let body = Attributes::default().with_nested(ATTR_ADDR, &endpoint.encode());
        self.tell(CMD_ADD_ADDR, &body).doing(|| format!("let MPTCP use {}", endpoint.address))
    }

    /// Sets the limits of connections. Needs CAP_NET_ADMIN in the namespace.
    pub fn set_limits(&self, limits: Limits) -> Result<(), Error> {
        let body = Attributes::default()
            .with(ATTR_RCV_ADD_ADDRS, &limits.accepted_addresses.to_ne_bytes())
            .with(ATTR_SUBFLOWS, &limits.subflows.to_ne_bytes());
        self.tell(CMD_SET_LIMITS, &body).doing(|| format!("limit MPTCP to {limits}"))
    }

    /// The addresses that MPTCP may use.
    pub fn endpoints(&self) -> Result<Vec<Endpoint>, Error> {
        let mut all = Vec::new();
        let each = |reply: &[u8]| all.extend(Endpoint::decode(reply));
        self.netlink
            .ask(self.family, Answer::All, &[CMD_GET_ADDR, VERSION, 0, 0], each)
            .doing(|| "ask which addresses MPTCP may use".to_owned())?;
        Ok(all)
    }

    /// The limits of connections.
    pub fn limits(&self) -> Result<Limits, Error> {
        let mut limits = Limits { subflows: 0, accepted_addresses: 0 };
        let each = |reply: &[u8]| limits = Limits::decode(reply);
        self.netlink
            .ask(self.family, Answer::One, &[CMD_GET_LIMITS, VERSION, 0, 0], each)
            .doing(|| "read MPTCP's limits".to_owned())?;
        Ok(limits)
    }

    fn tell(&self, command: u8, body: &Attributes) -> std::io::Result<()> {
        self.netlink.ask(self.family, Answer::One, &body.after(&[command, VERSION, 0, 0]), |_| ())
    }
}

impl Endpoint {
    fn encode(&self) -> Attributes {
        let purpose = match self.purpose {
            Purpose::Subflow => FLAG_SUBFLOW,
            Purpose::Signal => FLAG_SIGNAL,
            Purpose::Both => FLAG_SUBFLOW | FLAG_SIGNAL,
            Purpose::Other => 0,
        };
        let flags: u32 = purpose | if self.is_backup { FLAG_BACKUP } else { 0 };
        let (family, kind, octets) = match self.address {
            IpAddr::V4(address) => (AF_INET, ADDR_V4, address.octets().to_vec()),
            IpAddr::V6(address) => (AF_INET6, ADDR_V6, address.octets().to_vec()),
        };
        Attributes::default()
            .with(ADDR_FAMILY, &family.to_ne_bytes())
            .with(kind, &octets)
            .with(ADDR_FLAGS, &flags.to_ne_bytes())
    }

    fn decode(message: &[u8]) -> Option<Self> {
        let (_, inner) = attributes(message.get(GENERIC_HEADER..)?).find(|&(kind, _)| kind == ATTR_ADDR)?;
        let (mut address, mut flags) = (None, 0);
        for (kind, value) in attributes(inner) {
            match kind {
                ADDR_V4 => address = array::<4>(value, 0).map(|octets| Ipv4Addr::from(octets).into()),
                ADDR_V6 => address = array::<16>(value, 0).map(|octets| Ipv6Addr::from(octets).into()),
                ADDR_FLAGS => flags = u32::from_ne_bytes(array(value, 0)?),
                _ => {}
            }
        }
        let purpose = match (flags & FLAG_SUBFLOW != 0, flags & FLAG_SIGNAL != 0) {
            (true, true) => Purpose::Both,
            (true, false) => Purpose::Subflow,
            (false, true) => Purpose::Signal,
            (false, false) => Purpose::Other,
        };
        Some(Self { address: address?, purpose, is_backup: flags & FLAG_BACKUP != 0 })
    }
}

impl Limits {
    fn decode(message: &[u8]) -> Self {
        let all = attributes(message.get(GENERIC_HEADER..).unwrap_or_default());
        let all: Vec<_> = all.collect();
        let number = |wanted| {
            let value = all.iter().find(|&&(kind, _)| kind == wanted).map(|&(_, value)| value);
            value.and_then(|value| array(value, 0)).map_or(0, u32::from_ne_bytes)
        };
        Self { subflows: number(ATTR_SUBFLOWS), accepted_addresses: number(ATTR_RCV_ADD_ADDRS) }
    }
}

impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} further subflows and {} accepted addresses", self.subflows, self.accepted_addresses)
    }
}

fn family_id(message: &[u8]) -> Option<u16> {
    let found = attributes(message.get(GENERIC_HEADER..)?).find(|&(kind, _)| kind == CTRL_ATTR_FAMILY_ID)?;
    array(found.1, 0).map(u16::from_ne_bytes)
}

// linux/genetlink.h
const GENERIC_HEADER: usize = 4;
const GENL_ID_CTRL: u16 = 16;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;

// linux/mptcp_pm.h
const VERSION: u8 = 1;
const CMD_ADD_ADDR: u8 = 1;
const CMD_GET_ADDR: u8 = 3;
const CMD_SET_LIMITS: u8 = 5;
const CMD_GET_LIMITS: u8 = 6;
const ATTR_ADDR: u16 = 1;
const ATTR_RCV_ADD_ADDRS: u16 = 2;
const ATTR_SUBFLOWS: u16 = 3;
const ADDR_FAMILY: u16 = 1;
const ADDR_V4: u16 = 3;
const ADDR_V6: u16 = 4;
const ADDR_FLAGS: u16 = 6;
const FLAG_SIGNAL: u32 = 1;
const FLAG_SUBFLOW: u32 = 2;
const FLAG_BACKUP: u32 = 4;

// sys/socket.h
const AF_INET: u16 = 2;
const AF_INET6: u16 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_read_as_it_was_written() {
        for (address, purpose, is_backup) in [
            ("10.16.0.1", Purpose::Subflow, true),
            ("2001:db8::1", Purpose::Signal, false),
            ("10.0.0.9", Purpose::Both, false),
        ] {
            let endpoint = Endpoint { address: address.parse().unwrap(), purpose, is_backup };
            let message =
                Attributes::default().with_nested(ATTR_ADDR, &endpoint.encode()).after(&[3, 1, 0, 0]);
            assert_eq!(Endpoint::decode(&message), Some(endpoint));
            for cut in 0..message.len() {
                // A truncated message is at most a different endpoint without flags, and causes no panic.
                assert_ne!(Endpoint::decode(&message[..cut]), Some(endpoint));
            }
        }
    }

    #[test]
    fn limits_that_are_not_said_are_zero() {
        let message = Attributes::default().with(ATTR_SUBFLOWS, &2_u32.to_ne_bytes()).after(&[6, 1, 0, 0]);
        assert_eq!(Limits::decode(&message), Limits { subflows: 2, accepted_addresses: 0 });
        assert_eq!(Limits::decode(&[]), Limits { subflows: 0, accepted_addresses: 0 });
    }
}
