//! What later answers change in a stored response: 304 (RFC 9111 section 3.2) and HEAD (section 4.3.5); and what of a message
//! belongs to a connection and is never stored.

use http_types::{
    HeaderMap, HeaderName,
    header::{
        CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, ETAG, LAST_MODIFIED, PROXY_AUTHENTICATE,
        PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
    },
};

use crate::{Stored, directives::elements};

/// Takes over the fields of an answer that confirmed a stored response. Those that describe the stored body stay.
pub fn refresh(stored: &mut HeaderMap, answer: &HeaderMap) {
    for name in answer.keys().filter(|name| !describes_the_body(name)) {
        stored.remove(name);
        for value in answer.get_all(name) {
            stored.append(name, value.clone());
        }
    }
}

/// Whether what a HEAD was answered with is about the response that is stored: same length, same validators.
pub fn is_same(stored: &Stored, answer: &HeaderMap) -> bool {
    [CONTENT_LENGTH, ETAG, LAST_MODIFIED].iter().all(|name| {
        match (answer.get(name), stored.headers.get(name)) {
            (Some(theirs), Some(ours)) => theirs == ours,
            (Some(_), None) => *name == CONTENT_LENGTH,
            (None, _) => true,
        }
    })
}

/// Removes what is about one connection (RFC 9110 section 7.6.1): the fields that Connection names, and those that always are.
pub fn clear_connection_fields(headers: &mut HeaderMap) {
    // Most have none of them.
    if !headers.keys().any(|name| is_of_connection(name.as_str())) {
        return;
    }
    let named: Vec<HeaderName> =
        elements(headers, &CONNECTION).filter_map(|name| name.parse().ok()).collect();
    for name in named.iter().filter(|name| !is_end_to_end(name)).chain(&OF_CONNECTIONS) {
        headers.remove(name);
    }
}

/// Whether a field is always about one connection, by its name as somebody wrote it.
pub fn is_of_connection(name: &str) -> bool {
    let is = |own: &str| name.eq_ignore_ascii_case(own);
    // The same as below. Their lengths tell nearly all other names apart.
    match name.len() {
        2 => is("te"),
        7 => is("trailer") || is("upgrade"),
        10 => is("connection") || is("keep-alive"),
        14 => is("http2-settings"),
        16 => is("proxy-connection"),
        17 => is("transfer-encoding"),
        18 => is("proxy-authenticate"),
        19 => is("proxy-authorization"),
        _ => false,
    }
}

/// Fields that Connection cannot take away: a client that names them wants the next server to see another request than ours.
fn is_end_to_end(name: &HeaderName) -> bool {
    matches!(
        name.as_str(),
        "host" | "content-length" | "cache-control" | "authorization" | "cdn-loop" | "age" | "date" | "vary"
    )
}

fn describes_the_body(name: &HeaderName) -> bool {
    [CONTENT_LENGTH, CONTENT_ENCODING, CONTENT_RANGE].contains(name) || OF_CONNECTIONS.contains(name)
}

const OF_CONNECTIONS: [HeaderName; 10] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    PROXY_AUTHENTICATE,
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
