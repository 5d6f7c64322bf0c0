//! The network of a client address, which is stored instead of it.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

/// The first 24 bits of an IPv4 address, or the first 48 of an IPv6 address: some hundred
/// households or one customer, not a single person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Network(IpAddr);

impl Network {
    /// The network of an address.
    pub fn of(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V4(v4) => Ipv4Addr::from_bits(v4.to_bits() & (u32::MAX << 8)).into(),
            IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() & (u128::MAX << 80)).into(),
        })
    }
}

/// `192.0.2.0/24` or `2001:db8::/48`.
impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.0, if self.0.is_ipv4() { 24 } else { 48 })
    }
}

/// The text is not a valid network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a network such as 192.0.2.0/24 or 2001:db8::/48")]
pub struct NoNetwork;

impl FromStr for Network {
    type Err = NoNetwork;

    fn from_str(text: &str) -> Result<Self, NoNetwork> {
        let (address, _) = text.split_once('/').ok_or(NoNetwork)?;
        let network = Self::of(address.parse().map_err(|_| NoNetwork)?);
        if network.to_string() == text { Ok(network) } else { Err(NoNetwork) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_loses_what_tells_people_apart() {
        for (address, network) in [
            ("192.0.2.77", "192.0.2.0/24"),
            ("::ffff:192.0.2.77", "192.0.2.0/24"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"),
        ] {
            let of: Network = Network::of(address.parse().unwrap());
            assert_eq!(of.to_string(), network);
            assert_eq!(network.parse(), Ok(of));
        }
        for text in ["192.0.2.77/24", "192.0.2.0", "192.0.2.0/16", "2001:db8:1:2::/48", "x/24", ""] {
            assert_eq!(text.parse::<Network>(), Err(NoNetwork), "{text}");
        }
    }
}
