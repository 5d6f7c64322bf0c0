//! Format strings of Envoy.

use super::{super::clock::Clock, A_TIME, Field, Kind, Piece, Scale, Stamped, push_text, wrong};
use crate::{Metric, Unit, error::Unknown};

/// `%NAME%`, `%NAME(arguments)%` and `%NAME(arguments):length%`; `%%` is a percent sign.
pub(super) fn parse(text: &str) -> Result<Vec<Piece>, Unknown> {
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
        let kind = kind(name, arguments).ok_or_else(|| wrong(from, A_TIME))?;
        pieces.push(Piece::Field(Field { name: from[..length].to_owned(), kind }));
        rest = &from[length..];
    }
    push_text(&mut pieces, rest);
    Ok(pieces)
}

/// Whether it has a command of more than one letter, which Apache's formats have not.
pub(super) fn is_likely(text: &str) -> bool {
    text.split('%').skip(1).any(|part| {
        let name = part.split('(').next().unwrap_or_default();
        let is_name = |byte: u8| byte.is_ascii_uppercase() || byte == b'_' || byte.is_ascii_digit();
        name.len() > 1 && name.bytes().all(is_name)
    })
}

/// `None` for a time whose pattern is not known.
fn kind(name: &str, arguments: &str) -> Option<Kind> {
    // REQ(X?Y) is Y without X: all requests have Y.
    let header = arguments.rsplit('?').next().unwrap_or_default().to_ascii_lowercase();
    Some(match (name, header.as_str()) {
        ("START_TIME", "") => {
            let clock = Clock::new("%Y-%m-%dT%H:%M:%S.%3fZ", "2000-10-10T20:55:36.589Z")?;
            Kind::Time { clock, stamped: Stamped::Start, is_best: false }
        }
        ("START_TIME", _) => {
            Kind::Time { clock: Clock::new(arguments, arguments)?, stamped: Stamped::Start, is_best: false }
        }
        ("DURATION", _) => Kind::Duration(Metric::Latency, Scale::Fixed(Unit::Ms)),
        ("RESPONSE_DURATION", _) => Kind::Duration(Metric::Ttfb, Scale::Fixed(Unit::Ms)),
        ("RESPONSE_TX_DURATION", _) => Kind::Duration(Metric::Load, Scale::Fixed(Unit::Ms)),
        ("REQUEST_DURATION", _) => Kind::Duration(Metric::Send, Scale::Fixed(Unit::Ms)),
        ("RESP", "x-envoy-upstream-service-time") => Kind::Duration(Metric::Wait, Scale::Fixed(Unit::Ms)),
        ("RESPONSE_CODE", _) => Kind::Status,
        ("RESPONSE_FLAGS", _) => Kind::Flags,
        ("BYTES_SENT", _) => Kind::Bytes,
        ("REQ", ":path") => Kind::Path,
        ("REQ", ":method") => Kind::Label("method".to_owned()),
        ("REQ", ":authority") => Kind::Label("host".to_owned()),
        ("PROTOCOL", _) => Kind::Label("protocol".to_owned()),
        (_, "") => Kind::Label(name.to_ascii_lowercase()),
        _ => Kind::Label(header),
    })
}

pub(in crate::read::access) const DEFAULT: &str = "[%START_TIME%] \"%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%\" %RESPONSE_CODE% \
                     %RESPONSE_FLAGS% %BYTES_RECEIVED% %BYTES_SENT% %DURATION% \
                     %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% \"%REQ(X-FORWARDED-FOR)%\" \"%REQ(USER-AGENT)%\" \
                     \"%REQ(X-REQUEST-ID)%\" \"%REQ(:AUTHORITY)%\" \"%UPSTREAM_HOST%\"";

pub(in crate::read::access) const ISTIO: &str = "[%START_TIME%] \"%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%\" \
                                %RESPONSE_CODE% %RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS% \
                                %CONNECTION_TERMINATION_DETAILS% \"%UPSTREAM_TRANSPORT_FAILURE_REASON%\" \
                                %BYTES_RECEIVED% %BYTES_SENT% %DURATION% %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% \
                                \"%REQ(X-FORWARDED-FOR)%\" \"%REQ(USER-AGENT)%\" \"%REQ(X-REQUEST-ID)%\" \
                                \"%REQ(:AUTHORITY)%\" \"%UPSTREAM_HOST%\" %UPSTREAM_CLUSTER_RAW% \
                                %UPSTREAM_LOCAL_ADDRESS% %DOWNSTREAM_LOCAL_ADDRESS% %DOWNSTREAM_REMOTE_ADDRESS% \
                                %REQUESTED_SERVER_NAME% %ROUTE_NAME%";
