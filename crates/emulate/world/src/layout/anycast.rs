//! Resolved anycast prefixes.

use std::{fmt, net::IpAddr, str::FromStr, time::Duration};

use super::{CityId, HostId};
use crate::file::Transient;

/// Addresses shared by several hosts.
#[derive(Debug, Clone)]
pub struct Anycast {
    /// The name of its first address.
    pub name: String,
    /// One prefix, or one of each IP version.
    pub prefixes: Vec<Prefix>,
    /// The hosts that announce it, in the file's order.
    pub hosts: Vec<HostId>,
    /// Routing policies.
    pub bias: Vec<Bias>,
    /// Time until the last city has observed a change.
    pub convergence: Duration,
    /// Treatment of packets to a withdrawn site during that time.
    pub transient: Transient,
}

/// A routing policy that increases the cost of a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bias {
    /// Applies to packets from this city; `None`: to all packets.
    pub from: Option<CityId>,
    /// The site.
    pub host: HostId,
    /// Additional cost, as round-trip time.
    pub cost: Duration,
}

/// An IP prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefix {
    address: IpAddr,
    length: u8,
}

impl Prefix {
    /// The lowest address.
    pub fn address(self) -> IpAddr {
        self.address
    }

    /// The prefix length in bits.
    pub fn length(self) -> u8 {
        self.length
    }

    /// The address of the prefix's name: the first host address.
    pub fn first(self) -> IpAddr {
        match self.address {
            IpAddr::V4(address) if self.length < 31 => IpAddr::V4((u32::from(address) + 1).into()),
            IpAddr::V6(address) if self.length < 127 => IpAddr::V6((u128::from(address) + 1).into()),
            only => only,
        }
    }

    /// Whether the prefix contains an address.
    pub fn contains(self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                mask(32, self.length, u32::from(own).into()) == mask(32, self.length, u32::from(other).into())
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                mask(128, self.length, own.into()) == mask(128, self.length, other.into())
            }
            _ => false,
        }
    }

    /// Whether two prefixes overlap.
    pub fn overlaps(self, other: Self) -> bool {
        self.contains(other.address) || other.contains(self.address)
    }
}

fn mask(width: u32, length: u8, bits: u128) -> u128 {
    bits.checked_shr(width - u32::from(length)).unwrap_or(0)
}

impl FromStr for Prefix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected =
            || format!("\"{text}\" is not a prefix; expected one such as 192.0.2.0/24 or 2001:db8::/48");
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length.parse::<u8>().map_err(|_| expected())?)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| expected())?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        let length = length.unwrap_or(width);
        if length > width || length == 0 {
            return Err(expected());
        }
        let prefix = Self { address, length };
        let bits = match address {
            IpAddr::V4(address) => u32::from(address).into(),
            IpAddr::V6(address) => u128::from(address),
        };
        let host_bits = u32::from(width - length);
        if host_bits > 0 && bits & (u128::MAX >> (128 - host_bits)) != 0 {
            return Err(format!("\"{text}\" has bits set beyond its {length}; a prefix ends in zeros"));
        }
        Ok(prefix)
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(text: &str) -> Prefix {
        text.parse().unwrap()
    }

    #[test]
    fn a_prefix_is_a_range() {
        let net = prefix("192.0.2.0/24");
        assert!(net.contains("192.0.2.255".parse().unwrap()));
        assert!(!net.contains("192.0.3.0".parse().unwrap()));
        assert!(!net.contains("::ffff:192.0.2.1".parse().unwrap()));
        assert_eq!(net.first().to_string(), "192.0.2.1");
        assert_eq!(prefix("192.0.2.7").first().to_string(), "192.0.2.7");
        assert_eq!(prefix("2001:db8::/48").first().to_string(), "2001:db8::1");
        assert!(prefix("2001:db8::/48").contains("2001:db8:0:ffff::1".parse().unwrap()));
        assert!(!prefix("2001:db8::/48").contains("2001:db8:1::1".parse().unwrap()));
    }

    #[test]
    fn prefixes_overlap_when_one_holds_the_other() {
        assert!(prefix("10.0.0.0/8").overlaps(prefix("10.1.0.0/16")));
        assert!(prefix("10.1.0.0/16").overlaps(prefix("10.0.0.0/8")));
        assert!(!prefix("192.0.2.0/25").overlaps(prefix("192.0.2.128/25")));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "192.0.2.0/33", "192.0.2.0/0", "192.0.2.0/", "cdn", "2001:db8::/129"] {
            assert!(text.parse::<Prefix>().unwrap_err().contains("is not a prefix"), "{text}");
        }
        assert!("192.0.2.1/24".parse::<Prefix>().unwrap_err().contains("bits set beyond its 24"));
    }
}
