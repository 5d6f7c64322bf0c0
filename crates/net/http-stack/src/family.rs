//! Address families.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// Which addresses of a name are used; in a file "any", "ipv4" or "ipv6".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// IPv4 and IPv6. A request tries both (RFC 8305); a consumer of a single address, such as a ping,
    /// uses the one that the system's resolver prefers (RFC 6724).
    #[default]
    Any,
    /// IPv4 only.
    #[serde(rename = "ipv4")]
    V4,
    /// IPv6 only.
    #[serde(rename = "ipv6")]
    V6,
}

impl Family {
    /// The family of an address, never [`Family::Any`].
    pub fn of(address: IpAddr) -> Self {
        if address.to_canonical().is_ipv4() { Self::V4 } else { Self::V6 }
    }

    /// Whether the family includes an address.
    pub fn has(self, address: IpAddr) -> bool {
        self == Self::Any || self == Self::of(address)
    }

    /// The name in files and recordings: "ipv4", "ipv6" or "any".
    pub fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::V4 => "ipv4",
            Self::V6 => "ipv6",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_of_one_family() {
        for (address, family) in
            [("192.0.2.1", Family::V4), ("2001:db8::1", Family::V6), ("::ffff:192.0.2.1", Family::V4)]
        {
            let address = address.parse().unwrap();
            assert_eq!(Family::of(address), family);
            assert!(family.has(address) && Family::Any.has(address));
            let other = if family == Family::V4 { Family::V6 } else { Family::V4 };
            assert!(!other.has(address));
        }
    }
}
