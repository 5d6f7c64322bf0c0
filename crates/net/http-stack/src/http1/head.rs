//! Message heads: finding the end, parsing and writing.
//!
//! Field values are slices of the received buffer.

use std::{io::Write as _, mem::MaybeUninit};

use bytes::Bytes;
use httparse::{Header, ParserConfig, Status};
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode, Version,
    header::{self, HeaderName, HeaderValue},
};

use super::{
    Framing, Malformed, Persistence,
    framing::{of_request, of_response, persistence},
};
use crate::limits;

mod target;
mod version;

/// A request without its body.
#[derive(Debug)]
pub struct RequestHead {
    /// The request line and the fields.
    pub request: Request<()>,
    /// The framing of the body.
    pub framing: Framing,
    /// Whether the client keeps the connection for further requests.
    pub persistence: Persistence,
}

/// A response without its body, including interim responses (1xx).
#[derive(Debug)]
pub struct ResponseHead {
    /// The status line and the fields.
    pub response: Response<()>,
    /// The framing of the body.
    pub framing: Framing,
    /// Whether the server accepts another request on the connection.
    pub persistence: Persistence,
}

/// The accepted line ends of a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    /// Only CR LF. Another implementation might not accept LF alone as the end of a request's line.
    Strict,
    /// Also LF, which some old servers send and clients accept (RFC 9112 section 2.2).
    Lenient,
}

/// Searches for the end of a head; each byte is examined once, however the input is split.
#[derive(Debug, Default)]
pub struct HeadEnd {
    seen: usize,
    /// Empty lines before the start line are ignored (RFC 9112 section 2.2).
    has_begun: bool,
}

impl HeadEnd {
    /// Returns the length of the head at the start of `bytes`; `None` if it is incomplete. The next call
    /// must pass the same bytes with more appended, or after a complete head the bytes of the next
    /// message.
    ///
    /// # Errors
    /// The head is longer than [`limits::HEADER_BYTES`], or a line end is invalid.
    pub fn find(&mut self, bytes: &[u8], lines: Lines) -> Result<Option<usize>, Malformed> {
        while let Some(length) = memchr::memchr(b'\n', &bytes[self.seen..]) {
            let end = self.seen + length;
            let is_strict = end > 0 && bytes[end - 1] == b'\r';
            if !is_strict && lines == Lines::Strict {
                return Err(Malformed::Syntax);
            }
            let before = if is_strict { end - 1 } else { end };
            let is_empty = before == 0 || bytes[before - 1] == b'\n';
            self.seen = end + 1;
            if is_empty && self.has_begun {
                *self = Self::default();
                return if end < limits::HEADER_BYTES { Ok(Some(end + 1)) } else { Err(Malformed::TooLarge) };
            }
            self.has_begun |= !is_empty;
        }
        self.seen = bytes.len();
        if bytes.len() < limits::HEADER_BYTES { Ok(None) } else { Err(Malformed::TooLarge) }
    }
}

/// Parses the complete head of a request.
///
/// # Errors
/// The head is invalid or ambiguous.
pub fn request(head: &Bytes) -> Result<RequestHead, Malformed> {
    with_lines(head, |lines| {
        let is_same = std::ptr::eq(lines.head, &head[..]);
        let kept = if is_same { HeadBuffer::all(head) } else { HeadBuffer::copy(lines.head) };
        whole(&kept, lines)
    })?
}

struct HeadBuffer<'h> {
    bytes: Bytes,
    found_in: &'h [u8],
}

impl<'h> HeadBuffer<'h> {
    fn all(head: &'h Bytes) -> Self {
        Self { bytes: head.clone(), found_in: head }
    }

    /// The copy frees the input buffer for the next message.
    fn copy(head: &'h [u8]) -> Self {
        Self { bytes: Bytes::copy_from_slice(head), found_in: head }
    }

    fn part(&self, part: &[u8]) -> Bytes {
        let at = part.as_ptr().addr() - self.found_in.as_ptr().addr();
        self.bytes.slice(at..at + part.len())
    }
}

pub(crate) struct RequestLines<'h> {
    pub(crate) method: &'h str,
    pub(crate) target: &'h str,
    pub(crate) minor: u8,
    pub(crate) fields: &'h [Header<'h>],
    pub(crate) head: &'h [u8],
}

pub(crate) fn with_lines<T>(head: &[u8], read: impl FnOnce(&RequestLines<'_>) -> T) -> Result<T, Malformed> {
    let mut fields = [const { MaybeUninit::uninit() }; limits::HEADERS];
    let mut parsed = httparse::Request::new(&mut []);
    let status = ParserConfig::default().parse_request_with_uninit_headers(&mut parsed, head, &mut fields);
    let status = match status {
        Err(httparse::Error::Version) => return with_lines(&version::of_request(head)?, read),
        status => status.map_err(malformed)?,
    };
    let (Status::Complete(_), Some(method), Some(target), Some(minor)) =
        (status, parsed.method, parsed.path, parsed.version)
    else {
        return Err(Malformed::Syntax);
    };
    Ok(read(&RequestLines { method, target, minor, fields: parsed.headers, head }))
}

pub(crate) fn copied(lines: &RequestLines<'_>) -> Result<RequestHead, Malformed> {
    whole(&HeadBuffer::copy(lines.head), lines)
}

fn whole(head: &HeadBuffer<'_>, lines: &RequestLines<'_>) -> Result<RequestHead, Malformed> {
    let method = Method::from_bytes(lines.method.as_bytes()).map_err(|_| Malformed::Syntax)?;
    let mut request = Request::new(());
    *request.headers_mut() = map(head, lines.fields)?;
    *request.version_mut() = version::of(lines.minor);
    let target = head.part(lines.target.as_bytes());
    let uri = target::of(&method, target, request.version(), request.headers())?;
    if let Some(authority) = uri.authority().filter(|_| method != Method::CONNECT) {
        let host = HeaderValue::from_str(authority.as_str()).map_err(|_| Malformed::Host)?;
        request.headers_mut().insert(header::HOST, host);
    }
    *request.uri_mut() = uri;
    *request.method_mut() = method;
    let framing = of_request(request.version(), request.headers())?;
    let persistence = persistence(request.version(), request.headers());
    Ok(RequestHead { request, framing, persistence })
}

/// Parses the complete head of a response to a request with this method.
///
/// # Errors
/// The head is invalid, or the end of its body is ambiguous.
pub fn response(head: &[u8], to: &Method) -> Result<ResponseHead, Malformed> {
    with_response_lines(head, |lines| response_of(&HeadBuffer::copy(lines.head), lines, to))?
}

pub(crate) struct ResponseLines<'h> {
    pub(crate) code: u16,
    pub(crate) minor: u8,
    pub(crate) fields: &'h [Header<'h>],
    pub(crate) head: &'h [u8],
}

pub(crate) fn with_response_lines<T>(
    head: &[u8],
    read: impl FnOnce(&ResponseLines<'_>) -> T,
) -> Result<T, Malformed> {
    let mut fields = [const { MaybeUninit::uninit() }; limits::HEADERS];
    let mut parsed = httparse::Response::new(&mut []);
    let status = ParserConfig::default().parse_response_with_uninit_headers(&mut parsed, head, &mut fields);
    let status = match status {
        Err(httparse::Error::Version) => return with_response_lines(&version::of_response(head)?, read),
        status => status.map_err(malformed)?,
    };
    let (Status::Complete(_), Some(code), Some(minor)) = (status, parsed.code, parsed.version) else {
        return Err(Malformed::Syntax);
    };
    Ok(read(&ResponseLines { code, minor, fields: parsed.headers, head }))
}

fn response_of(
    head: &HeadBuffer<'_>,
    lines: &ResponseLines<'_>,
    to: &Method,
) -> Result<ResponseHead, Malformed> {
    let mut response = Response::new(());
    *response.headers_mut() = map(head, lines.fields)?;
    *response.version_mut() = version::of(lines.minor);
    *response.status_mut() = StatusCode::from_u16(lines.code).map_err(|_| Malformed::Syntax)?;
    let framing = of_response(to, response.status(), response.version(), response.headers())?;
    let persistence = match framing {
        Framing::UntilClose | Framing::Tunnel => Persistence::Closed,
        _ => persistence(response.version(), response.headers()),
    };
    Ok(ResponseHead { response, framing, persistence })
}

/// Checks whether these bytes can be the beginning of a response's head.
///
/// # Errors
/// They cannot.
pub fn may_begin_response(bytes: &[u8]) -> Result<(), Malformed> {
    let mut fields = [const { MaybeUninit::uninit() }; limits::HEADERS];
    let mut parsed = httparse::Response::new(&mut []);
    match ParserConfig::default().parse_response_with_uninit_headers(&mut parsed, bytes, &mut fields) {
        Err(httparse::Error::Version) => may_begin_response(&version::of_response(bytes)?),
        parsed => parsed.map(drop).map_err(malformed),
    }
}

pub(super) fn fields(lines: &Bytes) -> Result<HeaderMap, Malformed> {
    let mut fields = [httparse::EMPTY_HEADER; limits::HEADERS];
    match httparse::parse_headers(lines, &mut fields).map_err(malformed)? {
        Status::Complete((_, fields)) => map(&HeadBuffer::all(lines), fields),
        Status::Partial => Err(Malformed::Syntax),
    }
}

/// Writes a request's head. `host` is used if `headers` contain no Host field. `framing` (none, a length
/// or chunked) replaces the length fields in `headers`.
pub fn write_request(
    to: &mut Vec<u8>,
    method: &Method,
    target: &str,
    host: &str,
    headers: &HeaderMap,
    framing: Framing,
) {
    for part in [method.as_str().as_bytes(), b" ", target.as_bytes(), b" HTTP/1.1\r\n"] {
        to.extend_from_slice(part);
    }
    if !headers.contains_key(header::HOST) {
        write_field(to, &header::HOST, host.as_bytes());
    }
    write_fields(to, headers.iter().filter(|(name, _)| !is_framing(name)));
    match framing {
        Framing::Length(length) => write_length(to, length),
        Framing::Chunked => write_field(to, &header::TRANSFER_ENCODING, b"chunked"),
        // These methods define a body, so an empty one is announced (RFC 9110 section 8.6).
        _ if matches!(*method, Method::POST | Method::PUT | Method::PATCH) => {
            write_field(to, &header::CONTENT_LENGTH, b"0");
        }
        _ => {}
    }
    to.extend_from_slice(b"\r\n");
}

/// Writes a response's head, with the given reason phrase or the standard one. `framing` and
/// `persistence` replace the fields in `headers` for the connection and the length.
pub fn write_response(
    to: &mut Vec<u8>,
    (version, status, reason): (Version, StatusCode, Option<&[u8]>),
    headers: &HeaderMap,
    framing: Framing,
    persistence: Persistence,
) {
    write_status(to, version, status, reason);
    let is_kept = |name: &HeaderName| match framing {
        Framing::Tunnel => true,
        Framing::None => !is_of_connection(name) && name != header::TRANSFER_ENCODING,
        _ => !is_of_connection(name) && !is_framing(name),
    };
    write_fields(to, headers.iter().filter(|(name, _)| is_kept(name)));
    match framing {
        Framing::Length(length) => write_length(to, length),
        Framing::Chunked => write_field(to, &header::TRANSFER_ENCODING, b"chunked"),
        Framing::None | Framing::UntilClose | Framing::Tunnel => {}
    }
    match (persistence, version) {
        (Persistence::Closed, _) if framing != Framing::Tunnel => {
            write_field(to, &header::CONNECTION, b"close");
        }
        (Persistence::Kept, Version::HTTP_10) => write_field(to, &header::CONNECTION, b"keep-alive"),
        _ => {}
    }
    to.extend_from_slice(b"\r\n");
}

pub(crate) fn write_end(
    to: &mut Vec<u8>,
    framing: Framing,
    persistence: Persistence,
    alternative: Option<&HeaderValue>,
) {
    match framing {
        Framing::Length(length) => write_length(to, length),
        Framing::Chunked => write_field(to, &header::TRANSFER_ENCODING, b"chunked"),
        Framing::None | Framing::UntilClose | Framing::Tunnel => write_length(to, 0),
    }
    if let Some(alternative) = alternative {
        write_field(to, &header::ALT_SVC, alternative.as_bytes());
    }
    if persistence == Persistence::Closed {
        write_field(to, &header::CONNECTION, b"close");
    }
    to.extend_from_slice(b"\r\n");
}

/// Writes an interim response's head.
pub fn write_interim(to: &mut Vec<u8>, status: StatusCode, headers: &HeaderMap) {
    write_status(to, Version::HTTP_11, status, None);
    write_fields(to, headers.iter().filter(|(name, _)| !is_of_connection(name) && !is_framing(name)));
    to.extend_from_slice(b"\r\n");
}

/// HTTP/2 and HTTP/3 use the same figure, because a decoded header needs the same memory.
pub(crate) fn interim_length(headers: &HeaderMap) -> usize {
    let fields = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    "HTTP/1.1 103 Early Hints\r\n\r\n".len() + fields.sum::<usize>()
}

fn write_status(to: &mut Vec<u8>, version: Version, status: StatusCode, reason: Option<&[u8]>) {
    let version: &[u8] = if version == Version::HTTP_10 { b"HTTP/1.0 " } else { b"HTTP/1.1 " };
    let reason = reason.unwrap_or_else(|| status.canonical_reason().unwrap_or_default().as_bytes());
    for part in [version, status.as_str().as_bytes(), b" ", reason, b"\r\n"] {
        to.extend_from_slice(part);
    }
}

pub(super) fn write_fields<'f>(
    to: &mut Vec<u8>,
    fields: impl Iterator<Item = (&'f HeaderName, &'f HeaderValue)>,
) {
    fields.for_each(|(name, value)| write_field(to, name, value.as_bytes()));
}

fn write_length(to: &mut Vec<u8>, length: u64) {
    let _ = write!(to, "content-length: {length}\r\n");
}

fn write_field(to: &mut Vec<u8>, name: &HeaderName, value: &[u8]) {
    let name = name.as_str().as_bytes();
    to.reserve(name.len() + value.len() + 4);
    for part in [name, b": ", value, b"\r\n"] {
        to.extend_from_slice(part);
    }
}

/// Connection-specific fields other than those of [`is_framing`].
fn is_of_connection(name: &HeaderName) -> bool {
    name == header::CONNECTION || name.as_str() == "keep-alive"
}

fn is_framing(name: &HeaderName) -> bool {
    name == header::CONTENT_LENGTH || name == header::TRANSFER_ENCODING
}

fn map(head: &HeadBuffer<'_>, fields: &[Header<'_>]) -> Result<HeaderMap, Malformed> {
    let mut headers = HeaderMap::with_capacity(fields.len());
    for field in fields {
        let name = HeaderName::from_bytes(field.name.as_bytes()).map_err(|_| Malformed::Syntax)?;
        let value = if field.value.is_empty() { Bytes::new() } else { head.part(field.value) };
        let value = HeaderValue::from_maybe_shared(value).map_err(|_| Malformed::Syntax)?;
        headers.append(name, value);
    }
    Ok(headers)
}

fn malformed(error: httparse::Error) -> Malformed {
    match error {
        httparse::Error::TooManyHeaders => Malformed::TooLarge,
        httparse::Error::Version => Malformed::Version,
        _ => Malformed::Syntax,
    }
}

#[cfg(test)]
mod tests;
