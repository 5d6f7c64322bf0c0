//! Hop-by-hop fields and their removal (RFC 9110 section 7.6.1), and Cookie lines.

use http_types::{
    HeaderMap, HeaderName, HeaderValue,
    header::{
        CONNECTION, COOKIE, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
    },
};

use crate::directives::elements;

/// Joins Cookie lines of HTTP/2 and HTTP/3 (RFC 9113 section 8.2.3).
pub fn join_cookies(headers: &mut HeaderMap) {
    let mut lines = headers.get_all(COOKIE).iter();
    if lines.next().is_none() || lines.next().is_none() {
        return;
    }
    let crumbs: Vec<_> = headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes).collect();
    if let Ok(joined) = HeaderValue::from_bytes(&crumbs.join(&b"; "[..])) {
        headers.insert(COOKIE, joined);
    }
}

/// Removes the fields of a connection (RFC 9110 section 7.6.1).
pub fn remove_hop_by_hop(headers: &mut HeaderMap) {
    // Fast path: most headers have no such field.
    if !headers.keys().any(|name| is_hop_by_hop(name.as_str())) {
        return;
    }
    let named: Vec<HeaderName> =
        elements(headers, &CONNECTION).filter_map(|name| name.parse().ok()).collect();
    for name in named.iter().filter(|name| !is_end_to_end(name)).chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
}

/// Whether a field always belongs to a connection, in any case.
pub fn is_hop_by_hop(name: &str) -> bool {
    let is = |own: &str| name.eq_ignore_ascii_case(own);
    // Must match `HOP_BY_HOP`. The length excludes nearly all other names.
    match name.len() {
        2 => is("te"),
        7 => is("trailer") || is("upgrade"),
        10 => is("connection") || is("keep-alive"),
        14 => is("http2-settings"),
        16 => is("proxy-connection"),
        17 => is("transfer-encoding"),
        18 => is("proxy-authenticate"),
        25 => is("proxy-authentication-info"),
        19 => is("proxy-authorization"),
        _ => false,
    }
}

/// Fields that Connection cannot remove (RFC 9110 section 7.6.1). Otherwise a client could make the
/// origin see another request than the cache.
pub fn is_end_to_end(name: &HeaderName) -> bool {
    let name = name.as_str();
    matches!(
        name,
        "host"
            | "age"
            | "authorization"
            | "cache-control"
            | "cdn-loop"
            | "cookie"
            | "date"
            | "etag"
            | "expires"
            | "forwarded"
            | "last-modified"
            | "origin"
            | "pragma"
            | "range"
            | "set-cookie"
            | "vary"
            | "via"
            | "x-real-ip"
    ) || ["accept", "content-", "if-", "x-forwarded-"].iter().any(|begin| name.starts_with(begin))
}

pub(crate) const HOP_BY_HOP: [HeaderName; 11] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    PROXY_AUTHENTICATE,
    HeaderName::from_static("proxy-authentication-info"),
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
    HeaderName::from_static("http2-settings"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn map(fields: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn connection_fields_are_recognized_in_any_case() {
        for own in &HOP_BY_HOP {
            assert!(is_hop_by_hop(own.as_str()) && is_hop_by_hop(&own.as_str().to_uppercase()), "{own}");
        }
        for other in ["", "tea", "tr", "trailers", "upgrader", "keep_alive", "host", "connectiom"] {
            assert!(!is_hop_by_hop(other), "{other}");
        }
    }

    #[test]
    fn cookie_lines_are_joined_in_order() {
        let mut headers = map(&[("cookie", "a=1"), ("x", "y"), ("cookie", "b=2; c=3"), ("cookie", "a=4")]);
        join_cookies(&mut headers);
        assert_eq!(headers, map(&[("cookie", "a=1; b=2; c=3; a=4"), ("x", "y")]));
        let mut obscure = HeaderMap::new();
        obscure.append(COOKIE, HeaderValue::from_bytes(b"a=\xe4").unwrap());
        obscure.append(COOKIE, HeaderValue::from_static("b=2"));
        join_cookies(&mut obscure);
        assert_eq!(obscure[COOKIE].as_bytes(), b"a=\xe4; b=2");
        let mut none = map(&[("x", "y")]);
        join_cookies(&mut none);
        assert_eq!(none, map(&[("x", "y")]));
    }

    #[test]
    fn connection_cannot_remove_fields_that_select_the_response() {
        let named = "cookie, origin, range, accept-language, if-none-match, x-forwarded-for, x-own";
        let mut headers = map(&[("connection", named), ("x-own", "1")]);
        for name in named.split(", ").filter(|name| *name != "x-own") {
            headers.insert(name.parse::<HeaderName>().unwrap(), HeaderValue::from_static("v"));
        }
        remove_hop_by_hop(&mut headers);
        assert_eq!(headers.len(), 6, "{headers:?}");
    }

    #[test]
    fn fields_named_by_connection_are_removed_except_framing() {
        let mut headers = map(&[
            ("connection", "close, A"),
            ("a", "1"),
            ("b", "2"),
            ("keep-alive", "5"),
            ("transfer-encoding", "chunked"),
            ("connection", "content-length"),
            ("content-length", "3"),
        ]);
        remove_hop_by_hop(&mut headers);
        assert_eq!(headers, map(&[("b", "2"), ("content-length", "3")]));
    }
}
