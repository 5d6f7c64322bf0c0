//! The addresses of a network namespace, and the outgoing device of a packet, by route netlink
//! (rtnetlink(7)).

use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use netlink_sys::protocols::NETLINK_ROUTE;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    error::{Doing, Error},
    netlink::{Answer, Attributes, Netlink, array, attributes},
};

/// An address of the namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Address {
    /// The address.
    pub address: IpAddr,
    /// The device that has it.
    pub device: String,
}

pub(super) struct Network {
    netlink: Netlink,
    devices: BTreeMap<u32, String>,
}

impl Network {
    pub(super) fn open() -> Result<Self, Error> {
        let netlink = Netlink::open(NETLINK_ROUTE).doing(|| "open a netlink socket".to_owned())?;
        let mut devices = BTreeMap::new();
        let each = |message: &[u8]| devices.extend(device(message));
        netlink
            .ask(RTM_GETLINK, Answer::All, &[0; LINK_HEADER], each)
            .doing(|| "list the network devices".to_owned())?;
        Ok(Self { netlink, devices })
    }

    pub(super) fn addresses(&self) -> Result<Vec<Address>, Error> {
        let mut all = Vec::new();
        let each = |message: &[u8]| all.extend(address(message));
        self.netlink
            .ask(RTM_GETADDR, Answer::All, &[0; ADDRESS_HEADER], each)
            .doing(|| "list the addresses".to_owned())?;
        all.sort_by_key(|&(device, address)| (device, address));
        let own = all.into_iter().filter(|&(_, address)| is_public(address));
        Ok(own.map(|(device, address)| Address { address, device: self.name(device) }).collect())
    }

    pub(super) fn device_of(&self, from: IpAddr, to: IpAddr) -> Option<String> {
        let (family, bits) = if to.is_ipv4() { (AF_INET, 32) } else { (AF_INET6, 128) };
        let octets = |address: IpAddr| match address {
            IpAddr::V4(address) => address.octets().to_vec(),
            IpAddr::V6(address) => address.octets().to_vec(),
        };
        let header = [family, bits, bits, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let body = Attributes::default().with(RTA_DST, &octets(to)).with(RTA_SRC, &octets(from));
        let mut found = None;
        let each = |message: &[u8]| found = found.or_else(|| number(message, ROUTE_HEADER, RTA_OIF));
        self.netlink.ask(RTM_GETROUTE, Answer::One, &body.after(&header), each).ok()?;
        found.map(|device| self.name(device))
    }

    fn name(&self, device: u32) -> String {
        self.devices.get(&device).cloned().unwrap_or_else(|| format!("device {device}"))
    }
}

fn device(message: &[u8]) -> Option<(u32, String)> {
    let index = u32::from_ne_bytes(array(message, 4)?);
    let (_, name) = attributes(message.get(LINK_HEADER..)?).find(|&(kind, _)| kind == IFLA_IFNAME)?;
    Some((index, String::from_utf8_lossy(name.strip_suffix(&[0]).unwrap_or(name)).into_owned()))
}

fn address(message: &[u8]) -> Option<(u32, IpAddr)> {
    let index = u32::from_ne_bytes(array(message, 4)?);
    let all: Vec<_> = attributes(message.get(ADDRESS_HEADER..)?).collect();
    let value = |wanted| all.iter().find(|&&(kind, _)| kind == wanted).map(|&(_, value)| value);
    // On a point-to-point link the first is the local address, and the second the peer's.
    let value = value(IFA_LOCAL).or_else(|| value(IFA_ADDRESS))?;
    let address = match value.len() {
        4 => IpAddr::V4(Ipv4Addr::from(array::<4>(value, 0)?)),
        _ => IpAddr::V6(Ipv6Addr::from(array::<16>(value, 0)?)),
    };
    Some((index, address))
}

fn number(message: &[u8], header: usize, wanted: u16) -> Option<u32> {
    let (_, value) = attributes(message.get(header..)?).find(|&(kind, _)| kind == wanted)?;
    array(value, 0).map(u32::from_ne_bytes)
}

fn is_public(address: IpAddr) -> bool {
    let is_of_link = match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    !address.is_loopback() && !is_of_link
}

// linux/rtnetlink.h, if_link.h, if_addr.h
const RTM_GETLINK: u16 = 18;
const RTM_GETADDR: u16 = 22;
const RTM_GETROUTE: u16 = 26;
const LINK_HEADER: usize = 16;
const ADDRESS_HEADER: usize = 8;
const ROUTE_HEADER: usize = 12;
const IFLA_IFNAME: u16 = 3;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const RTA_DST: u16 = 1;
const RTA_SRC: u16 = 2;
const RTA_OIF: u16 = 4;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_and_addresses_are_read_from_messages() {
        let header =
            |index: u32, length| [&[0; 4][..], &index.to_ne_bytes(), &[0; 16]].concat()[..length].to_vec();
        let link = Attributes::default().with(IFLA_IFNAME, b"net1\0").after(&header(3, LINK_HEADER));
        assert_eq!(device(&link), Some((3, "net1".to_owned())));
        let own = Attributes::default().with(IFA_ADDRESS, &[10, 0, 0, 9]).with(IFA_LOCAL, &[10, 0, 0, 1]);
        let own = own.after(&header(3, ADDRESS_HEADER));
        assert_eq!(address(&own), Some((3, "10.0.0.1".parse().unwrap())));
        for cut in 0..own.len() {
            assert_ne!(address(&own[..cut]), address(&own));
        }
        let short = Attributes::default().with(IFA_LOCAL, &[1; 7]).after(&header(3, ADDRESS_HEADER));
        assert_eq!(address(&short), None);
    }

    #[test]
    fn only_what_others_may_know_is_an_address() {
        let public = ["10.0.0.1", "fd00::1"].map(|text| is_public(text.parse().unwrap()));
        let own = ["127.0.0.1", "::1", "fe80::1", "169.254.0.1"].map(|text| is_public(text.parse().unwrap()));
        assert_eq!((public, own), ([true; 2], [false; 4]));
    }
}
