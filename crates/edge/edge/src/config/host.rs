//! Host names of a zone.

use std::net::Ipv6Addr;

/// Validates a host of a zone, and converts it to lower case: a name, an address, `*.shop.example` for all
/// subdomains, or `*`.
/// # Errors
/// If it is none of these.
pub fn check_host(host: &str) -> Result<String, String> {
    let name = host.to_ascii_lowercase();
    let bare = name.strip_prefix("*.").unwrap_or(&name);
    if name == "*" || is_name(bare) || is_ipv6(bare) {
        return Ok(name);
    }
    let has_port = bare.rsplit_once(':').is_some_and(|(host, port)| {
        (is_name(host) || is_ipv6(host))
            && !port.is_empty()
            && port.bytes().all(|digit| digit.is_ascii_digit())
    });
    Err(if has_port {
        format!("\"{name}\" has a port: requests are compared with the host alone, so leave the port out")
    } else {
        format!("\"{name}\" is not a host: expected a name, \"*.shop.example\" for all subdomains, or \"*\"")
    })
}

fn is_name(text: &str) -> bool {
    let is_letter = |letter: u8| letter.is_ascii_alphanumeric() || b"-_".contains(&letter);
    text.split('.').all(|label| !label.is_empty() && label.bytes().all(is_letter))
}

fn is_ipv6(text: &str) -> bool {
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    inner.is_some_and(|text| text.parse::<Ipv6Addr>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_names_addresses_and_wildcards() {
        for host in
            ["shop.example", "*.shop.example", "*", "localhost", "127.0.0.1", "[::1]", "a_b.example", "xn--1"]
        {
            assert_eq!(check_host(host), Ok(host.to_owned()));
        }
        assert_eq!(check_host("Shop.EXAMPLE"), Ok("shop.example".to_owned()));
        for host in ["", "a b", "a..b", ".a", "a.", "*a.b", "a/b", "[::1", "::1:x", "[x]", "a:b", "http://a"]
        {
            assert!(check_host(host).unwrap_err().contains("is not a host"), "{host}");
        }
        for host in ["localhost:8080", "[::1]:80", "*.shop.example:443"] {
            assert!(check_host(host).unwrap_err().contains("has a port"), "{host}");
        }
    }
}
