//! Format strings of nginx.

use super::{super::clock::Clock, Field, Kind, Piece, Scale, Stamped, push_text, wrong};
use crate::{Metric, error::Unknown};

/// `$name` and `${name}`.
pub(super) fn parse(text: &str) -> Result<Vec<Piece>, Unknown> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        push_text(&mut pieces, &rest[..at]);
        let from = &rest[at..];
        let (name, length) = match from[1..].strip_prefix('{') {
            Some(inner) => {
                let end = inner.find('}').ok_or_else(|| wrong(from, "a } after the variable's name"))?;
                (&inner[..end], end + 3)
            }
            None => {
                let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let end = from[1..].find(|c| !is_of_name(c)).unwrap_or(from.len() - 1);
                (&from[1..=end], end + 1)
            }
        };
        if name.is_empty() {
            return Err(wrong(from, "the name of a variable after the $"));
        }
        pieces.push(Piece::Field(Field { name: from[..length].to_owned(), kind: kind(name) }));
        rest = &from[length..];
    }
    push_text(&mut pieces, rest);
    Ok(pieces)
}

pub(in crate::read::access) fn kind(name: &str) -> Kind {
    let time = |pattern, example| {
        let clock = Clock::new(pattern, example).expect("the pattern is one of the known");
        Kind::Time { clock, stamped: Stamped::End, is_best: false }
    };
    match name {
        "time_local" => time("%d/%b/%Y:%H:%M:%S %z", "10/Oct/2000:13:55:36 -0700"),
        "time_iso8601" => time("%Y-%m-%dT%H:%M:%S%z", "2000-10-10T13:55:36-07:00"),
        "msec" => time("%s.%3f", "971211336.589"),
        "request_time" => Kind::Duration(Metric::Latency, Scale::Proven),
        "upstream_connect_time" => Kind::Durations(Metric::Connect, Scale::Proven),
        "upstream_header_time" => Kind::Durations(Metric::Ttfb, Scale::Proven),
        "upstream_response_time" => Kind::Durations(Metric::Total, Scale::Proven),
        "status" => Kind::Status,
        "body_bytes_sent" => Kind::Bytes,
        "upstream_cache_status" => Kind::Cache,
        "connection_requests" => Kind::Requests,
        "request" => Kind::Request,
        "uri" | "request_uri" => Kind::Path,
        "request_method" => Kind::Label("method".to_owned()),
        "host" | "http_host" => Kind::Label("host".to_owned()),
        "server_protocol" => Kind::Label("protocol".to_owned()),
        name => Kind::Label(name.to_owned()),
    }
}

pub(super) const COMBINED: &str = "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent \"$http_referer\" \
                     \"$http_user_agent\" $request_time";
