//! Parses a format string: the text between variables, and the meaning of each variable.

use super::clock::Clock;
use crate::{Metric, Unit, error::Unknown};

/// One part of every line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Always the same.
    Text(String),
    Field(Field),
}

/// A variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    /// As the format spells it, for messages.
    pub name: String,
    pub kind: Kind,
}

/// The meaning of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Time {
        clock: Clock,
        stamped: Stamped,
        /// Whether no other time in the format is finer.
        is_best: bool,
    },
    Duration(Metric, Unit),
    /// Seconds, perhaps several.
    Durations(Metric),
    Status,
    /// Bytes of the body.
    Bytes,
    /// Requests on the connection so far, this one included.
    Requests,
    /// Method, path and protocol.
    Request,
    Path,
    Label(String),
}

/// Which moment of a request a time belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stamped {
    Start,
    End,
}

/// The pieces of a format string, or of the one with that name.
pub(super) fn parse(text: &str) -> Result<Vec<Piece>, Unknown> {
    let text = match text {
        "nginx" => NGINX,
        "envoy" => ENVOY,
        text => text,
    };
    let text = text.strip_suffix("\\n").unwrap_or(text).trim_end_matches(['\r', '\n']);
    let is_envoy =
        text.bytes().zip(text.bytes().skip(1)).any(|(sign, next)| sign == b'%' && next.is_ascii_uppercase());
    let mut pieces = if is_envoy { envoy(text)? } else { nginx(text)? };
    if !pieces.iter().any(|piece| matches!(piece, Piece::Field(_))) {
        return Err(wrong(text, "nginx, envoy, or a format such as \"$msec $status $request_time\""));
    }
    apart(&mut pieces, text)?;
    let kinds = || {
        pieces
            .iter()
            .filter_map(|piece| if let Piece::Field(field) = piece { Some(&field.kind) } else { None })
    };
    if !kinds().any(|kind| matches!(kind, Kind::Duration(..) | Kind::Durations(_))) {
        return Err(wrong(text, "a time that requests took, such as $request_time or %DURATION%"));
    }
    let has_ttfb = kinds().any(|kind| *kind == Kind::Duration(Metric::Ttfb, Unit::Ms));
    let finest = kinds()
        .filter_map(
            |kind| if let Kind::Time { clock, .. } = kind { Some(clock.resolution_ns()) } else { None },
        )
        .min();
    let mut is_first = true;
    for piece in &mut pieces {
        let Piece::Field(field) = piece else { continue };
        match &mut field.kind {
            Kind::Time { clock, is_best, .. } => {
                *is_best = is_first && Some(clock.resolution_ns()) == finest;
                is_first &= !*is_best;
            }
            // A sample's ttfb is the sum of its phases where it has a wait, and this one is not all of them.
            kind @ Kind::Duration(Metric::Wait, _) if has_ttfb => {
                *kind = Kind::Label("x-envoy-upstream-service-time".to_owned());
            }
            _ => {}
        }
    }
    Ok(pieces)
}

/// Quotes the format from where it is wrong.
fn wrong(rest: &str, expected: &'static str) -> Unknown {
    let short: String = rest.chars().take(SHOWN).collect();
    let dots = if short.len() < rest.len() { "..." } else { "" };
    Unknown { what: "part of the log format, from", found: format!("{short}{dots}"), expected }
}

/// Two variables without anything between them cannot be told apart: labels become one, anything else is refused.
fn apart(pieces: &mut Vec<Piece>, text: &str) -> Result<(), Unknown> {
    let mut merged: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces.drain(..) {
        let (Some(Piece::Field(before)), Piece::Field(field)) = (merged.last_mut(), &piece) else {
            merged.push(piece);
            continue;
        };
        let is_label = |kind: &Kind| matches!(kind, Kind::Label(_) | Kind::Path);
        // The end of these two is known.
        let ends_itself = matches!(before.kind, Kind::Time { .. } | Kind::Durations(_));
        if is_label(&before.kind) && is_label(&field.kind) {
            before.name += &field.name;
            before.kind = Kind::Label(before.name.clone());
        } else if ends_itself {
            merged.push(piece);
        } else {
            let at = text.find(&field.name).unwrap_or(0);
            return Err(wrong(&text[at..], "some text between two variables, such as a blank"));
        }
    }
    *pieces = merged;
    Ok(())
}

/// Adds to the text that came last.
fn push_text(pieces: &mut Vec<Piece>, text: &str) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(Piece::Text(before)) => before.push_str(text),
        _ => pieces.push(Piece::Text(text.to_owned())),
    }
}

/// `$name` and `${name}`.
fn nginx(text: &str) -> Result<Vec<Piece>, Unknown> {
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
        pieces.push(Piece::Field(Field { name: from[..length].to_owned(), kind: nginx_kind(name) }));
        rest = &from[length..];
    }
    push_text(&mut pieces, rest);
    Ok(pieces)
}

/// The meaning of a variable of nginx.
pub(super) fn nginx_kind(name: &str) -> Kind {
    let time = |pattern, example| {
        let clock = Clock::new(pattern, example).expect("the pattern is one of the known");
        Kind::Time { clock, stamped: Stamped::End, is_best: false }
    };
    match name {
        "time_local" => time("%d/%b/%Y:%H:%M:%S %z", "10/Oct/2000:13:55:36 -0700"),
        "time_iso8601" => time("%Y-%m-%dT%H:%M:%S%z", "2000-10-10T13:55:36-07:00"),
        "msec" => time("%s.%3f", "971211336.589"),
        "request_time" => Kind::Duration(Metric::Latency, Unit::S),
        "upstream_connect_time" => Kind::Durations(Metric::Connect),
        "upstream_header_time" => Kind::Durations(Metric::Ttfb),
        "upstream_response_time" => Kind::Durations(Metric::Total),
        "status" => Kind::Status,
        "body_bytes_sent" => Kind::Bytes,
        "connection_requests" => Kind::Requests,
        "request" => Kind::Request,
        "uri" | "request_uri" => Kind::Path,
        "request_method" => Kind::Label("method".to_owned()),
        "host" | "http_host" => Kind::Label("host".to_owned()),
        "server_protocol" => Kind::Label("protocol".to_owned()),
        name => Kind::Label(name.to_owned()),
    }
}

/// `%NAME%`, `%NAME(arguments)%` and `%NAME(arguments):length%`; `%%` is a percent sign.
fn envoy(text: &str) -> Result<Vec<Piece>, Unknown> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        push_text(&mut pieces, &rest[..at]);
        let from = &rest[at..];
        if let Some(after) = from.strip_prefix("%%") {
            push_text(&mut pieces, "%");
            rest = after;
            continue;
        }
        // Arguments may contain percent signs: START_TIME(%s.%3f).
        let name = from[1..].split(['(', '%']).next().unwrap_or_default();
        let after = &from[1 + name.len()..];
        let (arguments, length) = match after.strip_prefix('(') {
            Some(inner) => {
                let close = inner.find(')').ok_or_else(|| wrong(from, "a ) after the arguments"))?;
                let end = inner[close..].find('%').ok_or_else(|| wrong(from, "a % at the command's end"))?;
                (&inner[..close], 1 + name.len() + 1 + close + end + 1)
            }
            None if after.is_empty() => return Err(wrong(from, "a % at the command's end")),
            None => ("", name.len() + 2),
        };
        if !name.starts_with(|c: char| c.is_ascii_uppercase()) {
            return Err(wrong(from, "the name of a command after the %, or %% for a percent sign"));
        }
        let kind = envoy_kind(name, arguments).ok_or_else(|| wrong(from, A_TIME))?;
        pieces.push(Piece::Field(Field { name: from[..length].to_owned(), kind }));
        rest = &from[length..];
    }
    push_text(&mut pieces, rest);
    Ok(pieces)
}

/// `None` for a time whose pattern is not known.
fn envoy_kind(name: &str, arguments: &str) -> Option<Kind> {
    // REQ(X?Y) is Y if there is no X; a request gets its name from Y, which all requests have.
    let header = arguments.rsplit('?').next().unwrap_or_default().to_ascii_lowercase();
    Some(match (name, header.as_str()) {
        ("START_TIME", "") => {
            let clock = Clock::new("%Y-%m-%dT%H:%M:%S.%3fZ", "2000-10-10T20:55:36.589Z")?;
            Kind::Time { clock, stamped: Stamped::Start, is_best: false }
        }
        ("START_TIME", _) => {
            Kind::Time { clock: Clock::new(arguments, arguments)?, stamped: Stamped::Start, is_best: false }
        }
        ("DURATION", _) => Kind::Duration(Metric::Latency, Unit::Ms),
        ("RESPONSE_DURATION", _) => Kind::Duration(Metric::Ttfb, Unit::Ms),
        ("RESPONSE_TX_DURATION", _) => Kind::Duration(Metric::Load, Unit::Ms),
        ("REQUEST_DURATION", _) => Kind::Duration(Metric::Send, Unit::Ms),
        ("RESP", "x-envoy-upstream-service-time") => Kind::Duration(Metric::Wait, Unit::Ms),
        ("RESPONSE_CODE", _) => Kind::Status,
        ("BYTES_SENT", _) => Kind::Bytes,
        ("REQ", ":path") => Kind::Path,
        ("REQ", ":method") => Kind::Label("method".to_owned()),
        ("REQ", ":authority") => Kind::Label("host".to_owned()),
        ("PROTOCOL", _) => Kind::Label("protocol".to_owned()),
        (_, "") => Kind::Label(name.to_ascii_lowercase()),
        _ => Kind::Label(header),
    })
}

/// `combined` of nginx, and what a request took.
const NGINX: &str = "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent \"$http_referer\" \
                     \"$http_user_agent\" $request_time";

/// The default format string of Envoy.
const ENVOY: &str = "[%START_TIME%] \"%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%\" %RESPONSE_CODE% \
                     %RESPONSE_FLAGS% %BYTES_RECEIVED% %BYTES_SENT% %DURATION% \
                     %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% \"%REQ(X-FORWARDED-FOR)%\" \"%REQ(USER-AGENT)%\" \
                     \"%REQ(X-REQUEST-ID)%\" \"%REQ(:AUTHORITY)%\" \"%UPSTREAM_HOST%\"";

const A_TIME: &str = "a pattern of %Y %m %b %d %H %M %S %T %F %z %f %s, with a whole date and time";

/// How much of a format a message shows.
const SHOWN: usize = 60;
