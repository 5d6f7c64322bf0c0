//! What a request asks for: its target in one of four forms (RFC 9112 section 3.2), and the one host that it is for.

use bytes::Bytes;
use hyper::{HeaderMap, Method, Uri, header};

use crate::http1::Malformed;

/// The target of a request of this method, which its Host field does not contradict.
pub(super) fn of(method: &Method, target: Bytes, minor: u8, headers: &HeaderMap) -> Result<Uri, Malformed> {
    // A fragment is for nobody but the user; it would be passed over here, and by others not.
    if target.contains(&b'#') {
        return Err(Malformed::Syntax);
    }
    let is_path = target.first() == Some(&b'/');
    let is_all = &target[..] == b"*";
    let uri = Uri::from_maybe_shared(target).map_err(|_| Malformed::Syntax)?;
    let is_fit = match (method, uri.scheme().is_some(), uri.authority().is_some()) {
        (&Method::CONNECT, false, true) => uri.port_u16().is_some(),
        (&Method::CONNECT, ..) => false,
        (_, true, true) => matches!(uri.scheme_str(), Some("http" | "https")),
        (_, false, false) => is_path || (is_all && method == Method::OPTIONS),
        _ => false,
    };
    if !is_fit {
        return Err(Malformed::Syntax);
    }
    let named = host(minor, headers)?;
    match (uri.authority(), named) {
        (Some(authority), _) if !is_host(authority.as_str().as_bytes()) => Err(Malformed::Host),
        (Some(authority), Some(host)) if !authority.as_str().as_bytes().eq_ignore_ascii_case(host) => {
            Err(Malformed::Host)
        }
        _ => Ok(uri),
    }
}

/// The Host field: one, and one that can be. Only HTTP/1.0 may do without.
fn host(minor: u8, headers: &HeaderMap) -> Result<Option<&[u8]>, Malformed> {
    let mut hosts = headers.get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) if minor == 0 => Ok(None),
        (Some(host), None) if is_host(host.as_bytes()) => Ok(Some(host.as_bytes())),
        _ => Err(Malformed::Host),
    }
}

/// Whether this is a name or an address, and perhaps a port (RFC 3986 section 3.2.2): without a user, and not empty.
fn is_host(text: &[u8]) -> bool {
    let (host, rest) = match text.first() {
        Some(b'[') => match text.iter().position(|&byte| byte == b']') {
            Some(end) => text.split_at(end + 1),
            None => return false,
        },
        _ => text.split_at(text.iter().position(|&byte| byte == b':').unwrap_or(text.len())),
    };
    let is_port = match rest {
        [] => true,
        [b':', digits @ ..] => digits.len() <= 5 && digits.iter().all(u8::is_ascii_digit),
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
    is_port && is_name
}
