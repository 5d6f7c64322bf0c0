//! Validates heads of requests: one set of rules for HTTP/1.1, HTTP/2 and HTTP/3.
//!
//! Each accepted section is also a valid request of HTTP/1.1 with the same meaning.

use hyper::{
    HeaderMap, Method, Uri, Version, header,
    http::{request, uri::Authority},
};

use crate::{
    grammar::{decimal, is_token_letter},
    http1::Malformed,
};

/// The name and value of a field.
pub type Field<'f> = (&'f [u8], &'f [u8]);

/// Whether a request may contain `:protocol` (extended CONNECT, RFC 8441).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtendedConnect {
    /// The server has enabled it.
    Allowed,
    /// A request with `:protocol` is malformed.
    Refused,
}

/// Validates the header section of a request over HTTP/2 or HTTP/3, with its pseudo-header fields, in
/// the order of arrival.
///
/// # Errors
/// The request is malformed (RFC 9113 section 8.1.1, RFC 9114 section 4.1.2).
pub fn check_section<'f>(
    fields: impl IntoIterator<Item = Field<'f>>,
    extended: ExtendedConnect,
) -> Result<(), Malformed> {
    let mut head = Head::default();
    for (name, value) in fields {
        if !is_value(value) {
            return Err(Malformed::Syntax);
        }
        match name {
            [b':', ..] if head.has_fields => return Err(Malformed::Syntax),
            [b':', ..] => head.take_pseudo(name, value)?,
            _ if !is_name(name) => return Err(Malformed::Syntax),
            _ => head.take_field(name, value)?,
        }
    }
    head.check(extended)?;
    // h3 parses both again and rejects more than the rules above.
    if head.path.is_some_and(|path| Uri::try_from(path).is_err()) {
        return Err(Malformed::Syntax);
    }
    match head.authority.or(head.host).map(Authority::try_from) {
        Some(Err(_)) => Err(Malformed::Host),
        _ => Ok(()),
    }
}

/// Validates the trailer section of a message over HTTP/2 or HTTP/3.
///
/// # Errors
/// The section contains pseudo-header fields, connection-specific fields, or invalid names or values.
pub fn check_trailers<'f>(fields: impl IntoIterator<Item = Field<'f>>) -> Result<(), Malformed> {
    for (name, value) in fields {
        if !is_name(name) || !is_value(value) || is_of_connection(name) || name == b"te" {
            return Err(Malformed::Syntax);
        }
    }
    Ok(())
}

pub(crate) fn check_http2(head: &request::Parts) -> Result<(), Malformed> {
    let mut checked = Head {
        method: Some(head.method.as_str().as_bytes()),
        // h2 requires a scheme, but drops it if there is no authority.
        scheme: head.uri.scheme_str().map(str::as_bytes).or(Some(b"http")),
        authority: head.uri.authority().map(|authority| authority.as_str().as_bytes()),
        path: head.uri.path_and_query().map(|path| path.as_str().as_bytes()),
        protocol: head.extensions.get::<h2::ext::Protocol>().map(|protocol| protocol.as_str().as_bytes()),
        ..Head::default()
    };
    if head.method == Method::CONNECT && checked.protocol.is_none() {
        (checked.scheme, checked.path) = (None, None);
    }
    for (name, value) in &head.headers {
        let value = value.as_bytes();
        if has_space_around(value) {
            return Err(Malformed::Syntax);
        }
        checked.take_known(name.as_str().as_bytes(), value)?;
    }
    checked.check(ExtendedConnect::Allowed)
}

#[derive(Default)]
struct Head<'f> {
    method: Option<&'f [u8]>,
    scheme: Option<&'f [u8]>,
    authority: Option<&'f [u8]>,
    path: Option<&'f [u8]>,
    protocol: Option<&'f [u8]>,
    host: Option<&'f [u8]>,
    has_length: bool,
    has_fields: bool,
}

impl<'f> Head<'f> {
    fn take_pseudo(&mut self, name: &[u8], value: &'f [u8]) -> Result<(), Malformed> {
        let place = match name {
            b":method" => &mut self.method,
            b":scheme" => &mut self.scheme,
            b":authority" => &mut self.authority,
            b":path" => &mut self.path,
            b":protocol" => &mut self.protocol,
            _ => return Err(Malformed::Syntax),
        };
        if place.replace(value).is_some() { Err(Malformed::Syntax) } else { Ok(()) }
    }

    fn take_field(&mut self, name: &[u8], value: &'f [u8]) -> Result<(), Malformed> {
        self.has_fields = true;
        if is_of_connection(name) || (name == b"te" && value != b"trailers") {
            return Err(Malformed::Syntax);
        }
        self.take_known(name, value)
    }

    fn take_known(&mut self, name: &[u8], value: &'f [u8]) -> Result<(), Malformed> {
        match name {
            b"host" if self.host.replace(value).is_some() => Err(Malformed::Host),
            b"content-length" if std::mem::replace(&mut self.has_length, true) => Err(Malformed::Framing),
            b"content-length" => decimal(value).map(drop).ok_or(Malformed::Framing),
            _ => Ok(()),
        }
    }

    fn check(&self, extended: ExtendedConnect) -> Result<(), Malformed> {
        let method = self.method.filter(|method| is_token(method)).ok_or(Malformed::Syntax)?;
        let is_connect = method == b"CONNECT";
        if self.protocol.is_some() && (extended == ExtendedConnect::Refused || !is_connect) {
            return Err(Malformed::Syntax);
        }
        if is_connect && self.protocol.is_none() {
            let is_whole = self.scheme.is_none() && self.path.is_none();
            let authority = self.authority.filter(|_| is_whole).ok_or(Malformed::Syntax)?;
            // CONNECT has no default port (RFC 9110 section 9.3.6).
            let colon = authority.iter().rposition(|&byte| byte == b':').ok_or(Malformed::Syntax)?;
            if !is_port(&authority[colon + 1..]) {
                return Err(Malformed::Syntax);
            }
        } else {
            let is_scheme = self.scheme.is_some_and(is_http);
            let is_target = self.path.is_some_and(|path| is_path(path, method));
            if !is_scheme || !is_target {
                return Err(Malformed::Syntax);
            }
        }
        match (self.authority, self.host) {
            (None, None) => Err(Malformed::Host),
            (Some(authority), Some(host)) if !authority.eq_ignore_ascii_case(host) => Err(Malformed::Host),
            (Some(one), _) | (None, Some(one)) if !is_host(one) => Err(Malformed::Host),
            _ => Ok(()),
        }
    }
}

/// Connection-specific fields (RFC 9113 section 8.2.2, RFC 9114 section 4.2).
fn is_of_connection(name: &[u8]) -> bool {
    matches!(name, b"connection" | b"keep-alive" | b"proxy-connection" | b"transfer-encoding" | b"upgrade")
}

/// A field name: a token without capital letters.
fn is_name(name: &[u8]) -> bool {
    is_token(name) && !name.iter().any(u8::is_ascii_uppercase)
}

fn is_token(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(|&byte| is_token_letter(byte))
}

/// A field value (RFC 9110 section 5.5): no control characters, and no white space around it.
fn is_value(value: &[u8]) -> bool {
    !has_space_around(value) && value.iter().all(|&byte| byte == b'\t' || (byte >= b' ' && byte != 0x7f))
}

fn has_space_around(value: &[u8]) -> bool {
    let is_space = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    is_space(value.first()) || is_space(value.last())
}

fn is_http(scheme: &[u8]) -> bool {
    scheme.eq_ignore_ascii_case(b"http") || scheme.eq_ignore_ascii_case(b"https")
}

/// A path with an optional query, in characters that HTTP/1.1 allows, without a fragment.
fn is_path(path: &[u8], method: &[u8]) -> bool {
    let is_whole_server = path == b"*" && method == b"OPTIONS";
    let is_letter = |&byte: &u8| byte > b' ' && byte != 0x7f && byte != b'#';
    let is_path = path.first() == Some(&b'/') && path.iter().all(is_letter);
    is_whole_server || is_path
}

/// Without user information, and not empty.
pub(crate) fn is_host(text: &[u8]) -> bool {
    let (host, rest) = match text.first() {
        Some(b'[') => match text.iter().position(|&byte| byte == b']') {
            Some(end) => text.split_at(end + 1),
            None => return false,
        },
        _ => text.split_at(text.iter().position(|&byte| byte == b':').unwrap_or(text.len())),
    };
    let has_port = match rest {
        [] => true,
        [b':', digits @ ..] => digits.is_empty() || is_port(digits),
        _ => false,
    };
    let is_name = match host {
        [b'[', address @ .., b']'] => {
            !address.is_empty()
                && address.iter().all(|&byte| byte.is_ascii_hexdigit() || b":.".contains(&byte))
        }
        name => {
            !name.is_empty()
                && name
                    .iter()
                    .all(|&byte| byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=".contains(&byte))
        }
    };
    has_port && is_name
}

fn is_port(digits: &[u8]) -> bool {
    digits.len() <= 5 && decimal(digits).is_some_and(|port| port <= u64::from(u16::MAX))
}

/// Exactly one, and valid. HTTP/1.0 may omit it (RFC 9112 section 3.2).
pub(crate) fn host(version: Version, headers: &HeaderMap) -> Result<Option<&[u8]>, Malformed> {
    let mut hosts = headers.get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) if version == Version::HTTP_10 => Ok(None),
        (Some(host), None) if is_host(host.as_bytes()) => Ok(Some(host.as_bytes())),
        _ => Err(Malformed::Host),
    }
}

/// Two equal values are an error too, because servers disagree about them.
///
/// # Errors
/// There are several values, or the value is not a decimal number.
pub(crate) fn content_length(headers: &HeaderMap) -> Result<Option<u64>, Malformed> {
    let mut values = headers.get_all(header::CONTENT_LENGTH).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => decimal(value.as_bytes()).map(Some).ok_or(Malformed::Framing),
        _ => Err(Malformed::Framing),
    }
}

#[cfg(test)]
mod tests;
