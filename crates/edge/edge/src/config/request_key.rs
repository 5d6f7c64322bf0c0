//! The part of a request that identifies its sender, for load balancing and limits.

use std::{borrow::Cow, net::IpAddr};

use http_stack::{HeaderMap, HeaderName, header};

/// The part of a request that is the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestKey {
    /// The client's address.
    Client,
    /// The first line of a field.
    Header(HeaderName),
    /// The first cookie with this name.
    Cookie(String),
}

impl RequestKey {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "\"{text}\" is not a part of requests: expected \"client\", \"header:NAME\" or \"cookie:NAME\""
            )
        };
        match text.split_once(':') {
            None if text == "client" => Ok(Self::Client),
            Some(("header", name)) => name.parse().map(Self::Header).map_err(|_| wrong()),
            Some(("cookie", name)) if is_token(name) => Ok(Self::Cookie(name.to_owned())),
            _ => Err(wrong()),
        }
    }

    /// `None` if the request lacks the field or cookie.
    pub(crate) fn value<'h>(&self, client: IpAddr, headers: &'h HeaderMap) -> Option<Cow<'h, [u8]>> {
        match self {
            Self::Client => Some(Cow::Owned(network_prefix(client))),
            Self::Header(name) => headers.get(name).map(|value| Cow::Borrowed(value.as_bytes())),
            Self::Cookie(name) => cookie(headers, name).map(Cow::Borrowed),
        }
    }
}

/// An IPv4 address, or the first 64 bits of an IPv6 address: one subscriber usually has the whole network.
fn network_prefix(client: IpAddr) -> Vec<u8> {
    match client.to_canonical() {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets()[..8].to_vec(),
    }
}

fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h [u8]> {
    let lines = headers.get_all(header::COOKIE).iter().map(|line| line.as_bytes());
    lines.flat_map(|line| line.split(|&byte| byte == b';')).find_map(|pair| {
        let value = pair.trim_ascii().strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
        Some(value)
    })
}

fn is_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic() && !b";=,\"\\".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_is_read_from_the_request() {
        let mut headers = HeaderMap::new();
        headers.insert("x-user", "ann".parse().unwrap());
        headers.append("cookie", "sid2=b; sid=a".parse().unwrap());
        headers.append("cookie", "sid=c".parse().unwrap());
        let value = |text: &str, client: &str| {
            let key = RequestKey::parse(text).unwrap();
            key.value(client.parse().unwrap(), &headers).map(Cow::into_owned)
        };
        assert_eq!(value("header:X-User", "::1"), Some(b"ann".to_vec()));
        assert_eq!(value("header:x-none", "::1"), None);
        assert_eq!(value("cookie:sid", "::1"), Some(b"a".to_vec()));
        assert_eq!(value("cookie:si", "::1"), None);
        assert_eq!(value("client", "2001:db8::1"), value("client", "2001:db8::2:1"));
        assert_ne!(value("client", "2001:db8::1"), value("client", "2001:db8:0:1::1"));
        assert_eq!(value("client", "::ffff:192.0.2.1"), value("client", "192.0.2.1"));
    }

    #[test]
    fn other_words_are_refused() {
        for text in ["", "clients", "header:", "header:a b", "cookie:", "cookie:a=b", "query:a"] {
            assert!(RequestKey::parse(text).is_err(), "{text}");
        }
    }
}
