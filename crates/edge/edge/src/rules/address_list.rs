//! Lists of client addresses and networks in CIDR notation.

use std::net::IpAddr;

/// Networks, each an address and the number of its leading bits that count.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct AddressList(Vec<(u128, u32)>);

impl AddressList {
    pub(crate) fn push(&mut self, text: &str) -> Result<(), String> {
        let wrong = || format!("\"{text}\" is not an address or a network: expected \"192.0.2.0/24\"");
        let (address, bits) =
            text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let longest = if address.is_ipv4() { u32::BITS } else { u128::BITS };
        let is_number = |bits: &&str| bits.bytes().all(|digit| digit.is_ascii_digit());
        let bits = match bits {
            None => longest,
            Some(bits) => {
                Some(bits).filter(is_number).and_then(|bits| bits.parse().ok()).ok_or_else(wrong)?
            }
        };
        if bits > longest {
            return Err(format!("\"{text}\" has more than {longest} bits"));
        }
        let kept = u128::BITS - longest + bits;
        self.0.push((number(address) & mask(kept), kept));
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        let address = number(address);
        self.0.iter().any(|&(network, bits)| address & mask(bits) == network)
    }
}

/// IPv4 addresses are mapped to IPv6 (RFC 4291 section 2.5.5.2).
fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

fn mask(bits: u32) -> u128 {
    u128::MAX.checked_shl(u128::BITS - bits).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_contain_the_addresses_with_their_prefix() {
        for (network, address, is_in) in [
            ("192.0.2.0/24", "192.0.2.255", true),
            ("192.0.2.0/24", "192.0.3.0", false),
            ("192.0.2.1", "192.0.2.1", true),
            ("192.0.2.1", "192.0.2.2", false),
            ("192.0.2.77/24", "192.0.2.1", true),
            ("0.0.0.0/0", "203.0.113.9", true),
            ("0.0.0.0/0", "2001:db8::1", false),
            ("2001:db8::/32", "2001:db8:1::1", true),
            ("2001:db8::/32", "2001:db9::1", false),
            ("::/0", "2001:db9::1", true),
            ("192.0.2.1", "::ffff:192.0.2.1", true),
        ] {
            let mut list = AddressList::default();
            list.push(network).unwrap();
            assert_eq!(list.contains(address.parse().unwrap()), is_in, "{network} {address}");
        }
        for wrong in ["", "x", "192.0.2.0/33", "192.0.2.0/", "192.0.2.0/+1", "2001:db8::/129", "192.0.2/24"] {
            assert!(AddressList::default().push(wrong).is_err(), "{wrong}");
        }
    }
}
