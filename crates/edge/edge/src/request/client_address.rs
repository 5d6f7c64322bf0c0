//! The address and scheme of a client behind trusted proxies.

use std::net::{IpAddr, SocketAddr};

use http_stack::{HeaderMap, HeaderName, Scheme, header, server::Peer};

use crate::rules::address_list::AddressList;

/// Returns the client of a request, if a trusted proxy opened the connection. Removes the fields of the
/// proxies, because this data centre sets them towards origins.
pub(crate) fn behind_proxies(peer: Peer, headers: &mut HeaderMap, trusted: &AddressList) -> Peer {
    if !trusted.contains(peer.address.ip()) {
        return peer;
    }
    let address = forwarded_address(headers, trusted);
    let scheme = headers.get(FORWARDED_PROTO).and_then(|proto| match proto.as_bytes() {
        b"https" => Some(Scheme::Https),
        b"http" => Some(Scheme::Http),
        _ => None,
    });
    for name in [FORWARDED_FOR, FORWARDED_PROTO, header::FORWARDED] {
        headers.remove(name);
    }
    let address = address.map_or(peer.address, |address| SocketAddr::new(address, 0));
    Peer { address, scheme: scheme.unwrap_or(peer.scheme) }
}

/// The rightmost address that is not trusted, or the last trusted address before an invalid element or
/// the end.
fn forwarded_address(headers: &HeaderMap, trusted: &AddressList) -> Option<IpAddr> {
    let lines = headers.get_all(FORWARDED_FOR).iter().rev();
    let hops = lines.flat_map(|line| line.as_bytes().rsplit(|&byte| byte == b','));
    let mut address = None;
    for hop in hops.map(|hop| hop_address(hop.trim_ascii())) {
        address = hop.or(address);
        if !hop.is_some_and(|hop| trusted.contains(hop)) {
            break;
        }
    }
    address
}

/// With or without a port: some proxies append it.
fn hop_address(text: &[u8]) -> Option<IpAddr> {
    let text = str::from_utf8(text).ok()?;
    let plain = text.parse().ok();
    let bracketed = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    plain.or_else(bracketed).or_else(with_port).map(|address: IpAddr| address.to_canonical())
}

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

#[cfg(test)]
mod tests {
    use super::*;

    fn client_of(peer: &str, lines: &[&str], proto: Option<&str>) -> (String, Scheme, HeaderMap) {
        let mut trusted = AddressList::default();
        trusted.push("10.0.0.0/8").unwrap();
        trusted.push("2001:db8::/32").unwrap();
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(FORWARDED_FOR, line.parse().unwrap());
        }
        if let Some(proto) = proto {
            headers.insert(FORWARDED_PROTO, proto.parse().unwrap());
        }
        let peer = Peer { address: peer.parse().unwrap(), scheme: Scheme::Http };
        let found = behind_proxies(peer, &mut headers, &trusted);
        (found.address.ip().to_string(), found.scheme, headers)
    }

    #[test]
    fn client_is_the_rightmost_untrusted_address() {
        for (peer, lines, expected) in [
            ("192.0.2.1:5", &["198.51.100.7"][..], "192.0.2.1"),
            ("10.0.0.1:5", &[], "10.0.0.1"),
            ("10.0.0.1:5", &["198.51.100.7"], "198.51.100.7"),
            ("10.0.0.1:5", &["203.0.113.9, 198.51.100.7"], "198.51.100.7"),
            ("10.0.0.1:5", &["203.0.113.9, 198.51.100.7, 10.1.1.1"], "198.51.100.7"),
            ("10.0.0.1:5", &["203.0.113.9", "198.51.100.7", "10.1.1.1"], "198.51.100.7"),
            ("10.0.0.1:5", &["10.2.2.2, 10.1.1.1"], "10.2.2.2"),
            ("10.0.0.1:5", &["198.51.100.7:4711"], "198.51.100.7"),
            ("10.0.0.1:5", &["[2001:db9::1]:4711"], "2001:db9::1"),
            ("10.0.0.1:5", &["[2001:db9::1]"], "2001:db9::1"),
            ("10.0.0.1:5", &["::ffff:198.51.100.7"], "198.51.100.7"),
            ("10.0.0.1:5", &["198.51.100.7, unknown, 10.1.1.1"], "10.1.1.1"),
            ("10.0.0.1:5", &["nonsense"], "10.0.0.1"),
            ("[2001:db8::5]:5", &["198.51.100.7"], "198.51.100.7"),
            ("[::ffff:10.0.0.1]:5", &["198.51.100.7"], "198.51.100.7"),
        ] {
            assert_eq!(client_of(peer, lines, None).0, expected, "{peer} {lines:?}");
        }
    }

    #[test]
    fn only_a_trusted_proxy_sets_the_scheme() {
        assert_eq!(client_of("10.0.0.1:5", &[], Some("https")).1, Scheme::Https);
        assert_eq!(client_of("10.0.0.1:5", &[], Some("ftp")).1, Scheme::Http);
        let (_, scheme, headers) = client_of("192.0.2.1:5", &["198.51.100.7"], Some("https"));
        assert_eq!((scheme, headers.len()), (Scheme::Http, 2));
        assert!(client_of("10.0.0.1:5", &["198.51.100.7"], Some("https")).2.is_empty());
    }
}
