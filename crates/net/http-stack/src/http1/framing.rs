//! The length of a message's body (RFC 9112 section 6), and whether its connection persists (section
//! 9.3).
//!
//! Ambiguities in a request are errors, even where the RFC allows a choice: a proxy and the server
//! behind it might choose differently.

use hyper::{
    HeaderMap, Method, StatusCode, Version,
    header::{self, HeaderName},
};

use super::Malformed;
use crate::{
    grammar::{decimal, is_token_letter},
    request_head,
};

/// How the end of a body is determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// The message has no body.
    None,
    /// By its length in bytes; more than 0.
    Length(u64),
    /// By the last chunk.
    Chunked,
    /// By the end of the connection; only for responses.
    UntilClose,
    /// No body: the bytes that follow are not HTTP (after a 101, or a 2xx response to CONNECT).
    Tunnel,
}

/// Whether a connection persists after a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Persistence {
    /// It persists as far as this message is concerned.
    Kept,
    /// The message is the last one.
    Closed,
}

/// Returns the framing of a request with these fields.
///
/// # Errors
/// The end is ambiguous, or the transfer coding is unsupported.
pub fn of_request(version: Version, headers: &HeaderMap) -> Result<Framing, Malformed> {
    request_head::content_length(headers)?;
    match announced(version, headers)? {
        Some(Framing::UntilClose) => Err(Malformed::Framing),
        framing => Ok(framing.unwrap_or(Framing::None)),
    }
}

/// Returns the framing of the response to a request with this method.
///
/// # Errors
/// The end is ambiguous, or the transfer coding is unsupported, even if the response has no body.
pub fn of_response(
    method: &Method,
    status: StatusCode,
    version: Version,
    headers: &HeaderMap,
) -> Result<Framing, Malformed> {
    // An interim response has no content, whatever its fields (RFC 9112 section 6.3).
    if status.is_informational() && status != StatusCode::SWITCHING_PROTOCOLS {
        return Ok(Framing::None);
    }
    let announced = announced(version, headers)?;
    if status == StatusCode::SWITCHING_PROTOCOLS || (method == Method::CONNECT && status.is_success()) {
        return Ok(Framing::Tunnel);
    }
    let is_bodiless =
        method == Method::HEAD || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    Ok(if is_bodiless { Framing::None } else { announced.unwrap_or(Framing::UntilClose) })
}

/// Returns whether the connection persists after a message.
pub fn persistence(version: Version, headers: &HeaderMap) -> Persistence {
    let says = |option| has_token(headers, &header::CONNECTION, option);
    let is_kept = !says("close") && (version == Version::HTTP_11 || says("keep-alive"));
    if is_kept { Persistence::Kept } else { Persistence::Closed }
}

/// Whether a field with a list of tokens contains this token, ignoring case.
pub fn has_token(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    headers.get_all(name).iter().any(|value| {
        value.as_bytes().split(|&byte| byte == b',').any(|one| {
            let one = one.trim_ascii();
            one.eq_ignore_ascii_case(token.as_bytes())
        })
    })
}

fn announced(version: Version, headers: &HeaderMap) -> Result<Option<Framing>, Malformed> {
    match (coding(version, headers)?, length(headers)?) {
        (Some(_), Some(_)) => Err(Malformed::Framing),
        (Some(coded), None) => Ok(Some(coded)),
        (None, Some(0)) => Ok(Some(Framing::None)),
        (None, length) => Ok(length.map(Framing::Length)),
    }
}

/// The framing of the transfer codings: `chunked` alone, or codings without a determinable end (RFC 9112
/// section 6.3). `None` without the field.
fn coding(version: Version, headers: &HeaderMap) -> Result<Option<Framing>, Malformed> {
    if !headers.contains_key(header::TRANSFER_ENCODING) {
        return Ok(None);
    }
    // An HTTP/1.0 implementation ignores transfer codings and would determine another length (RFC 9112
    // section 6.1).
    if version != Version::HTTP_11 {
        return Err(Malformed::Framing);
    }
    let fields = headers.get_all(header::TRANSFER_ENCODING);
    let mut codings = fields.iter().flat_map(|field| field.as_bytes().split(|&byte| byte == b','));
    let (mut chunked, mut others, mut is_last) = (0_u32, 0_u32, false);
    for coding in &mut codings {
        // Only space and tab are optional white space (RFC 9110 section 5.6.3).
        let coding = trim(coding);
        if coding.is_empty() || !coding.iter().all(|&byte| is_token_letter(byte)) {
            return Err(Malformed::Framing);
        }
        is_last = coding.eq_ignore_ascii_case(b"chunked");
        if is_last { chunked += 1 } else { others += 1 }
    }
    match (chunked, others, is_last) {
        (1, 0, _) => Ok(Some(Framing::Chunked)),
        (1, _, true) => Err(Malformed::Coding),
        (0, _, _) => Ok(Some(Framing::UntilClose)),
        _ => Err(Malformed::Framing),
    }
}

/// Returns the length in all Content-Length fields; `None` without such a field.
///
/// # Errors
/// The fields differ, or contain no valid length.
pub fn length(headers: &HeaderMap) -> Result<Option<u64>, Malformed> {
    let mut agreed = None;
    for field in headers.get_all(header::CONTENT_LENGTH) {
        for one in field.as_bytes().split(|&byte| byte == b',') {
            let length = decimal(trim(one)).ok_or(Malformed::Framing)?;
            if *agreed.get_or_insert(length) != length {
                return Err(Malformed::Framing);
            }
        }
    }
    Ok(agreed)
}

fn trim(text: &[u8]) -> &[u8] {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
    let begin = text.iter().position(|byte| !is_space(byte)).unwrap_or(text.len());
    let end = text.iter().rposition(|byte| !is_space(byte)).map_or(begin, |last| last + 1);
    &text[begin..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HeaderValue;

    fn fields(lines: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for &(name, value) in lines {
            let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
            headers.append(HeaderName::from_static(name), value);
        }
        headers
    }

    #[test]
    fn lengths_and_codings_of_requests() {
        const LENGTH: &str = "content-length";
        const CODING: &str = "transfer-encoding";
        for (lines, expected) in [
            (&[][..], Ok(Framing::None)),
            (&[(LENGTH, "0")], Ok(Framing::None)),
            (&[(LENGTH, "5")], Ok(Framing::Length(5))),
            (&[(LENGTH, "005")], Ok(Framing::Length(5))),
            (&[(LENGTH, "18446744073709551615")], Ok(Framing::Length(u64::MAX))),
            (&[(LENGTH, "18446744073709551616")], Err(Malformed::Framing)),
            (&[(LENGTH, "5"), (LENGTH, "5")], Ok(Framing::Length(5))),
            (&[(LENGTH, "5, 5")], Ok(Framing::Length(5))),
            (&[(LENGTH, "5"), (LENGTH, "6")], Err(Malformed::Framing)),
            (&[(LENGTH, "5, 6")], Err(Malformed::Framing)),
            (&[(LENGTH, "5,")], Err(Malformed::Framing)),
            (&[(LENGTH, "")], Err(Malformed::Framing)),
            (&[(LENGTH, "+5")], Err(Malformed::Framing)),
            (&[(LENGTH, "-5")], Err(Malformed::Framing)),
            (&[(LENGTH, "5 5")], Err(Malformed::Framing)),
            (&[(LENGTH, "0x5")], Err(Malformed::Framing)),
            (&[(LENGTH, "5e1")], Err(Malformed::Framing)),
            (&[(LENGTH, "\u{665}")], Err(Malformed::Framing)),
            (&[(CODING, "chunked")], Ok(Framing::Chunked)),
            (&[(CODING, "CHUNKED")], Ok(Framing::Chunked)),
            (&[(CODING, "\tchunked ")], Ok(Framing::Chunked)),
            (&[(CODING, "chunked"), (LENGTH, "5")], Err(Malformed::Framing)),
            (&[(LENGTH, "0"), (CODING, "chunked")], Err(Malformed::Framing)),
            (&[(CODING, "")], Err(Malformed::Framing)),
            (&[(CODING, "chunked,")], Err(Malformed::Framing)),
            (&[(CODING, "chunked, chunked")], Err(Malformed::Framing)),
            (&[(CODING, "chunked"), (CODING, "chunked")], Err(Malformed::Framing)),
            (&[(CODING, "chunked, identity")], Err(Malformed::Framing)),
            (&[(CODING, "identity")], Err(Malformed::Framing)),
            (&[(CODING, "identity"), (LENGTH, "5")], Err(Malformed::Framing)),
            (&[(CODING, "xchunked")], Err(Malformed::Framing)),
            (&[(CODING, "chunk")], Err(Malformed::Framing)),
            (&[(CODING, "chunked;q=1")], Err(Malformed::Framing)),
            (&[(CODING, "\"chunked\"")], Err(Malformed::Framing)),
            (&[(CODING, "chunked\u{a0}")], Err(Malformed::Framing)),
            (&[(CODING, "gzip, chunked")], Err(Malformed::Coding)),
            (&[(CODING, "gzip"), (CODING, "chunked")], Err(Malformed::Coding)),
        ] {
            // With two equal lengths, another implementation may use the first or reject both.
            let is_twice = matches!(lines, [(LENGTH, "5"), (LENGTH, "5")] | [(LENGTH, "5, 5")]);
            let of_request = of_request(Version::HTTP_11, &fields(lines));
            assert_eq!(of_request, if is_twice { Err(Malformed::Framing) } else { expected }, "{lines:?}");
            let of_response = of_response(&Method::GET, StatusCode::OK, Version::HTTP_11, &fields(lines));
            let is_open = matches!(lines, [] | [(CODING, "identity" | "xchunked" | "chunk")]);
            assert_eq!(of_response, if is_open { Ok(Framing::UntilClose) } else { expected }, "{lines:?}");
        }
        assert_eq!(of_request(Version::HTTP_10, &fields(&[(CODING, "chunked")])), Err(Malformed::Framing));
        assert_eq!(of_request(Version::HTTP_10, &fields(&[(LENGTH, "5")])), Ok(Framing::Length(5)));
    }

    #[test]
    fn responses_without_a_body() {
        let both = fields(&[("content-length", "5"), ("transfer-encoding", "chunked")]);
        let early = of_response(&Method::GET, StatusCode::EARLY_HINTS, Version::HTTP_11, &both);
        assert_eq!(early, Ok(Framing::None));
        let headers = fields(&[("content-length", "5")]);
        for (method, status, expected) in [
            (Method::GET, 200, Framing::Length(5)),
            (Method::HEAD, 200, Framing::None),
            (Method::GET, 100, Framing::None),
            (Method::GET, 103, Framing::None),
            (Method::GET, 204, Framing::None),
            (Method::GET, 304, Framing::None),
            (Method::GET, 205, Framing::Length(5)),
            (Method::GET, 101, Framing::Tunnel),
            (Method::CONNECT, 200, Framing::Tunnel),
            (Method::CONNECT, 407, Framing::Length(5)),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(of_response(&method, status, Version::HTTP_11, &headers), Ok(expected), "{status}");
        }
    }

    #[test]
    fn which_connections_are_kept() {
        use Persistence::{Closed, Kept};
        for (version, lines, expected) in [
            (Version::HTTP_11, &[][..], Kept),
            (Version::HTTP_11, &[("connection", "close")], Closed),
            (Version::HTTP_11, &[("connection", "TE, Close")], Closed),
            (Version::HTTP_11, &[("connection", "te"), ("connection", "close")], Closed),
            (Version::HTTP_11, &[("connection", "closed")], Kept),
            (Version::HTTP_10, &[], Closed),
            (Version::HTTP_10, &[("connection", "keep-alive")], Kept),
            (Version::HTTP_10, &[("connection", "keep-alive, close")], Closed),
        ] {
            assert_eq!(persistence(version, &fields(lines)), expected, "{version:?} {lines:?}");
        }
    }
}
