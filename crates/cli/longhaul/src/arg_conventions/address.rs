//! Parses listen addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// `8080`, `:8080` and `localhost:8080` listen on loopback only. An explicit address admits other
/// machines.
pub(crate) fn listen(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    if let Ok(address) = text.parse::<IpAddr>() {
        let example = SocketAddr::new(address, 8080);
        return Err(format!("a port is missing, such as {example}"));
    }
    let (host, port) = text.rsplit_once(':').unwrap_or(("", text));
    let port = port.parse::<u16>().map_err(|_| {
        format!("expected a port from 0 to 65535, or an address and a port such as {EXAMPLE}")
    })?;
    match host {
        "" => Ok((Ipv4Addr::LOCALHOST, port).into()),
        _ if host.eq_ignore_ascii_case("localhost") => Ok((Ipv4Addr::LOCALHOST, port).into()),
        "*" => Err(format!(
            "for all addresses of this machine write {} or {}",
            SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)),
            SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)),
        )),
        _ => Err(format!(
            "\"{host}\" is not an address of this machine; expected a port alone, which is on loopback, or an address \
             and a port such as {EXAMPLE}"
        )),
    }
}

const EXAMPLE: &str = "0.0.0.0:8080 or [::1]:8080";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_on_loopback() {
        for text in ["8080", ":8080", "localhost:8080", "LOCALHOST:8080", "127.0.0.1:8080"] {
            assert_eq!(listen(text).unwrap().to_string(), "127.0.0.1:8080", "{text}");
        }
        assert_eq!(listen("[::1]:8080").unwrap().to_string(), "[::1]:8080");
        assert_eq!(listen("0.0.0.0:80").unwrap().to_string(), "0.0.0.0:80");
        assert_eq!(listen("0").unwrap().to_string(), "127.0.0.1:0");
    }

    #[test]
    fn what_is_no_address_is_answered_with_what_would_be() {
        for (text, expected) in [
            ("127.0.0.1", "a port is missing, such as 127.0.0.1:8080"),
            ("::1", "a port is missing, such as [::1]:8080"),
            ("*:80", "for all addresses of this machine write 0.0.0.0:80 or [::]:80"),
            ("example.org:80", "\"example.org\" is not an address of this machine"),
            ("80000", "expected a port from 0 to 65535"),
            (":-1", "expected a port from 0 to 65535"),
            ("", "expected a port from 0 to 65535"),
            ("localhost", "expected a port from 0 to 65535"),
        ] {
            let said = listen(text).unwrap_err();
            assert!(said.starts_with(expected), "{text}: {said}");
        }
    }
}
