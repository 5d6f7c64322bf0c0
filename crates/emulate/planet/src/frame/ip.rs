//! Parses and modifies the IP header of a packet, for both IP versions.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use link::Ecn;

use super::{IPV4_HEADER, Malformed, checksum, low16, word};

#[derive(Debug, Clone, Copy)]
pub(super) struct Header {
    pub from: IpAddr,
    pub to: IpAddr,
    pub ttl: u8,
    pub ecn: Ecn,
    pub protocol: u8,
    /// With the options of IPv4, without the extension headers of IPv6.
    pub length: usize,
    pub transport: usize,
    pub fragment: Fragment,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fragment {
    Whole,
    First,
    Later,
}

impl Header {
    pub(super) fn read(packet: &[u8]) -> Result<Self, Malformed> {
        match packet.first().map(|byte| byte >> 4) {
            Some(4) if packet.len() >= IPV4_HEADER => Self::version4(packet),
            Some(6) if packet.len() >= IPV6_HEADER => Ok(Self::version6(packet)),
            _ => Err(Malformed::Truncated),
        }
    }

    fn version4(packet: &[u8]) -> Result<Self, Malformed> {
        let length = usize::from(packet[0] & 0x0f) * 4;
        if length < IPV4_HEADER || length > packet.len() {
            return Err(Malformed::Truncated);
        }
        let address = |at: usize| {
            let octets: [u8; 4] = packet[at..at + 4].try_into().expect("four bytes");
            IpAddr::V4(Ipv4Addr::from(octets))
        };
        let fragment = Fragment::new(word(packet, 6) & 0x1fff, word(packet, 6) & 0x2000);
        Ok(Self {
            from: address(12),
            to: address(16),
            ttl: packet[8],
            ecn: ecn(packet[1] & 3),
            protocol: packet[9],
            length,
            transport: length,
            fragment,
        })
    }

    fn version6(packet: &[u8]) -> Self {
        let address = |at: usize| {
            let octets: [u8; 16] = packet[at..at + 16].try_into().expect("sixteen bytes");
            IpAddr::V6(Ipv6Addr::from(octets))
        };
        let mut header = Self {
            from: address(8),
            to: address(24),
            ttl: packet[7],
            ecn: ecn(packet[1] >> 4 & 3),
            protocol: packet[6],
            length: IPV6_HEADER,
            transport: IPV6_HEADER,
            fragment: Fragment::Whole,
        };
        for _ in 0..MOST_EXTENSIONS {
            if header.fragment == Fragment::Later || !header.skip_extension(packet) {
                break;
            }
        }
        header
    }

    /// RFC 8200, section 4. Only if a complete one is at `transport`.
    fn skip_extension(&mut self, packet: &[u8]) -> bool {
        let Some(extension) = packet[self.transport..].first_chunk::<8>() else { return false };
        let length = match self.protocol {
            HOP_BY_HOP | ROUTING | DESTINATION => 8 + 8 * usize::from(extension[1]),
            AUTHENTICATION => 8 + 4 * usize::from(extension[1]),
            FRAGMENT => 8,
            _ => return false,
        };
        if self.transport + length > packet.len() {
            return false;
        }
        if self.protocol == FRAGMENT {
            self.fragment = Fragment::new(word(extension, 2) & 0xfff8, word(extension, 2) & 1);
        }
        self.protocol = extension[0];
        self.transport += length;
        true
    }

    pub(super) fn ports(&self, packet: &[u8]) -> Option<[u16; 2]> {
        match (self.fragment, self.protocol) {
            (Fragment::Whole, TCP | UDP | DCCP | SCTP | UDP_LITE) => {
                let [a, b, c, d] = *packet[self.transport..].first_chunk()?;
                Some([u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])])
            }
            _ => None,
        }
    }

    /// A hash of addresses, protocol and, if every packet of the flow has them, ports. The same on
    /// every machine and in every run.
    pub(super) fn flow(&self, packet: &[u8]) -> u64 {
        let [from, to] = self.ports(packet).unwrap_or_default().map(u64::from);
        let ports = from << 16 | to;
        let mut hash = 0;
        for address in [self.from, self.to] {
            let bits = match address {
                IpAddr::V4(address) => address.to_ipv6_mapped(),
                IpAddr::V6(address) => address,
            };
            for half in bits.octets().as_chunks::<8>().0 {
                hash = mix(hash ^ u64::from_be_bytes(*half));
            }
        }
        mix(hash ^ (u64::from(self.protocol) << 32 | ports))
    }
}

impl Fragment {
    fn new(offset: u16, more: u16) -> Self {
        match (offset, more) {
            (0, 0) => Self::Whole,
            (0, _) => Self::First,
            _ => Self::Later,
        }
    }
}

/// The output function of SplitMix64 (Steele, Lea, Flood 2014).
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

/// Also increments IPv4's identification for each segment before it.
pub(super) fn set_length(ip: &mut [u8], total: usize, segments_before: u32) {
    if ip[0] >> 4 == 6 {
        checksum::replace(ip, 4, low16(total - IPV6_HEADER));
        return;
    }
    checksum::replace(ip, 2, low16(total));
    checksum::replace(ip, 4, word(ip, 4).wrapping_add(low16(segments_before as usize)));
}

pub(super) fn take_hops(ip: &mut [u8], hops: u8) {
    // IPv4 has the field before the protocol, IPv6 after the next header.
    if ip[0] >> 4 == 6 {
        ip[7] = ip[7].saturating_sub(hops);
    } else {
        let [ttl, protocol] = [ip[8], ip[9]];
        checksum::replace(ip, 8, u16::from_be_bytes([ttl.saturating_sub(hops), protocol]));
    }
}

/// "Congestion experienced" (RFC 3168, section 5), only for senders that support ECN.
pub(super) fn mark(ip: &mut [u8]) {
    let congestion = if ip[0] >> 4 == 6 { 0x30 } else { 3 };
    if ip[1] & congestion != 0 {
        checksum::replace(ip, 0, u16::from_be_bytes([ip[0], ip[1] | congestion]));
    }
}

pub(super) const IPV6_HEADER: usize = 40;

pub(super) const ICMP: u8 = 1;
pub(super) const TCP: u8 = 6;
pub(super) const UDP: u8 = 17;
pub(super) const ICMPV6: u8 = 58;
const DCCP: u8 = 33;
const SCTP: u8 = 132;
const UDP_LITE: u8 = 136;

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION: u8 = 60;

/// RFC 8200, section 4.1, recommends at most seven.
const MOST_EXTENSIONS: usize = 8;

/// RFC 3168.
fn ecn(bits: u8) -> Ecn {
    if bits == 0 { Ecn::NotCapable } else { Ecn::Capable }
}
