//! Prepares a response's head for HTTP/2 and HTTP/3: removes connection-specific fields, and adds
//! Content-Length and Date.

use std::time::Duration;

use hyper::{
    HeaderMap, Method, StatusCode,
    header::{self, Entry, HeaderName},
    http::response,
};

use crate::clock::http_date;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    Sent,
    /// There is no body, or it must not be sent (RFC 9110 section 6.4.1).
    LeftOut,
}

pub(super) fn prepare(head: &mut response::Parts, method: &Method, length: Option<u64>) -> Content {
    let has_none = matches!(head.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    let content = if has_none || *method == Method::HEAD { Content::LeftOut } else { Content::Sent };
    // A length of 0 is omitted for HEAD: the handler may have left out the body that a GET would have.
    let is_told = |length: u64| content == Content::Sent || (!has_none && length > 0);
    if let Some(length) = length.filter(|&length| is_told(length)) {
        head.headers.entry(header::CONTENT_LENGTH).or_insert_with(|| length.into());
    }
    head.headers.entry(header::DATE).or_insert_with(http_date);
    content
}

/// Connection-specific fields are forbidden (RFC 9113 section 8.2.2, RFC 9114 section 4.2).
pub(super) fn clear(headers: &mut HeaderMap) {
    if let Entry::Occupied(lines) = headers.entry(header::CONNECTION) {
        let lines: Vec<_> = lines.remove_entry_mult().1.collect();
        for name in lines.iter().flat_map(|line| line.to_str().unwrap_or_default().split(',')) {
            headers.remove(name.trim());
        }
    }
    for field in &CONNECTION_FIELDS {
        headers.remove(field);
    }
}

static CONNECTION_FIELDS: [HeaderName; 5] = [
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    header::TE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// h2 and quinn drop unsent frames when a stream is reset, so the client would receive no head.
pub(super) async fn has_left() {
    tokio::time::sleep(UNTIL_IT_LEFT).await;
}

/// Much longer than a connection's task needs to write its queue.
const UNTIL_IT_LEFT: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests {
    use hyper::Response;

    use super::*;

    #[test]
    fn lengths_are_told_where_there_is_one() {
        for (method, status, length, content, told) in [
            (Method::GET, 200, Some(3), Content::Sent, Some("3")),
            (Method::GET, 200, Some(0), Content::Sent, Some("0")),
            (Method::GET, 200, None, Content::Sent, None),
            (Method::HEAD, 200, Some(3), Content::LeftOut, Some("3")),
            (Method::HEAD, 200, Some(0), Content::LeftOut, None),
            (Method::GET, 304, Some(3), Content::LeftOut, None),
            (Method::GET, 204, Some(3), Content::LeftOut, None),
        ] {
            let (mut head, ()) = Response::builder().status(status).body(()).unwrap().into_parts();
            assert_eq!(prepare(&mut head, &method, length), content, "{method} {status}");
            let seen = head.headers.get("content-length").map(|value| value.to_str().unwrap());
            assert_eq!(seen, told, "{method} {status}");
            assert!(head.headers.contains_key("date"));
        }
    }

    #[test]
    fn what_belongs_to_a_connection_stays_there() {
        let fields = [
            ("connection", "close, X-Hop"),
            ("connection", "y"),
            ("x-hop", "1"),
            ("y", "1"),
            ("te", "gzip"),
            ("keep-alive", "5"),
            ("x", "y"),
        ];
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        clear(&mut headers);
        assert_eq!(headers.keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["x"]);
    }
}
