//! Updates of stored responses by 304 (RFC 9111 section 3.2) and HEAD (section 4.3.5), and removal
//! of the fields of a connection.

use http_types::{
    HeaderMap, HeaderName, HeaderValue, Method, StatusCode,
    header::{
        CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, COOKIE, ETAG, LAST_MODIFIED,
        PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
    },
};

use crate::{Stored, directives::elements};

/// Copies the fields of a validating response, except the tag and those that describe the stored
/// body.
pub fn refresh(stored: &mut HeaderMap, answer: &HeaderMap) {
    let has_tag = stored.contains_key(ETAG);
    let stays = |name: &HeaderName| describes_the_body(name) || (has_tag && *name == ETAG);
    for name in answer.keys().filter(|name| !stays(name)) {
        stored.remove(name);
        for value in answer.get_all(name) {
            stored.append(name, value.clone());
        }
    }
}

/// Whether the response to a HEAD matches the stored response.
pub fn is_same(stored: &Stored, answer: &HeaderMap) -> bool {
    [CONTENT_LENGTH, ETAG, LAST_MODIFIED].iter().all(|name| {
        match (answer.get(name), stored.headers.get(name)) {
            (Some(theirs), Some(ours)) => theirs == ours,
            (Some(_), None) => *name == CONTENT_LENGTH,
            (None, _) => true,
        }
    })
}

/// Whether a complete response ends the use of the stored one. 5xx and 429 do not describe the
/// resource, 304 and 412 concern a condition, 206 and 416 a part.
pub fn ends_use(method: &Method, status: StatusCode) -> bool {
    match *method {
        Method::GET => {
            !status.is_informational()
                && !status.is_server_error()
                && !matches!(status.as_u16(), 206 | 304 | 412 | 416 | 429)
        }
        // A 2xx to HEAD is compared with the stored response. 405 concerns the method.
        Method::HEAD => {
            !status.is_success() && !matches!(status.as_u16(), 405) && ends_use(&Method::GET, status)
        }
        _ => false,
    }
}

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
pub fn clear_connection_fields(headers: &mut HeaderMap) {
    // Fast path: most headers have no such field.
    if !headers.keys().any(|name| is_of_connection(name.as_str())) {
        return;
    }
    let named: Vec<HeaderName> =
        elements(headers, &CONNECTION).filter_map(|name| name.parse().ok()).collect();
    for name in named.iter().filter(|name| !is_end_to_end(name)).chain(&OF_CONNECTIONS) {
        headers.remove(name);
    }
}

/// Whether a field always belongs to a connection, in any case.
pub fn is_of_connection(name: &str) -> bool {
    let is = |own: &str| name.eq_ignore_ascii_case(own);
    // Must match `OF_CONNECTIONS`. The length excludes nearly all other names.
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

fn describes_the_body(name: &HeaderName) -> bool {
    [CONTENT_LENGTH, CONTENT_ENCODING, CONTENT_RANGE].contains(name) || OF_CONNECTIONS.contains(name)
}

const OF_CONNECTIONS: [HeaderName; 11] = [
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
    fn a_name_of_a_connection_is_known_in_any_case() {
        for own in &OF_CONNECTIONS {
            assert!(
                is_of_connection(own.as_str()) && is_of_connection(&own.as_str().to_uppercase()),
                "{own}"
            );
        }
        for other in ["", "tea", "tr", "trailers", "upgrader", "keep_alive", "host", "connectiom"] {
            assert!(!is_of_connection(other), "{other}");
        }
    }

    #[test]
    fn cookies_are_one_line_in_their_order() {
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
    fn the_most_recent_complete_answer_ends_the_use_of_what_is_stored() {
        let ends = |method: &Method, status| ends_use(method, StatusCode::from_u16(status).unwrap());
        for status in [200, 201, 204, 301, 302, 401, 403, 404, 405, 410, 451] {
            assert!(ends(&Method::GET, status), "{status}");
        }
        for status in [206, 304, 412, 416, 429, 500, 502, 503, 504, 599] {
            assert!(!ends(&Method::GET, status) && !ends(&Method::HEAD, status), "{status}");
        }
        assert!(ends(&Method::HEAD, 404) && !ends(&Method::HEAD, 200) && !ends(&Method::HEAD, 405));
        assert!(!ends(&Method::OPTIONS, 404) && !ends(&Method::POST, 200));
    }

    #[test]
    fn connection_does_not_take_away_what_decides() {
        let named = "cookie, origin, range, accept-language, if-none-match, x-forwarded-for, x-own";
        let mut headers = map(&[("connection", named), ("x-own", "1")]);
        for name in named.split(", ").filter(|name| *name != "x-own") {
            headers.insert(name.parse::<HeaderName>().unwrap(), HeaderValue::from_static("v"));
        }
        clear_connection_fields(&mut headers);
        assert_eq!(headers.len(), 6, "{headers:?}");
    }

    #[test]
    fn a_confirmation_brings_its_fields_and_leaves_the_body_alone() {
        let mut stored = map(&[("a", "1"), ("b", "1"), ("content-length", "5"), ("content-encoding", "br")]);
        refresh(
            &mut stored,
            &map(&[("a", "2"), ("a", "3"), ("content-length", "0"), ("content-encoding", "gzip")]),
        );
        assert_eq!(
            stored,
            map(&[("a", "2"), ("a", "3"), ("b", "1"), ("content-length", "5"), ("content-encoding", "br")])
        );
        let mut weak = map(&[("etag", "W/\"a\"")]);
        refresh(&mut weak, &map(&[("etag", "\"a\"")]));
        assert_eq!(weak, map(&[("etag", "W/\"a\"")]));
        let mut dated = map(&[("last-modified", "Mon")]);
        refresh(&mut dated, &map(&[("last-modified", "Mon"), ("etag", "W/\"a\"")]));
        assert!(dated.contains_key(ETAG));
    }

    #[test]
    fn what_connection_names_goes_with_it_but_not_what_the_message_needs() {
        let mut headers = map(&[
            ("connection", "close, A"),
            ("a", "1"),
            ("b", "2"),
            ("keep-alive", "5"),
            ("transfer-encoding", "chunked"),
            ("connection", "content-length"),
            ("content-length", "3"),
        ]);
        clear_connection_fields(&mut headers);
        assert_eq!(headers, map(&[("b", "2"), ("content-length", "3")]));
    }
}
