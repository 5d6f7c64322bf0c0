//! The target of a request in one of four forms (RFC 9112 section 3.2), and its host.

use bytes::Bytes;
use hyper::{HeaderMap, Method, Uri, Version};

use crate::{
    http1::Malformed,
    request_head::{host, is_host},
};

/// In absolute form, its host takes precedence over the Host field (RFC 9112 section 3.2.2). For
/// CONNECT both must be equal.
pub(super) fn of(
    method: &Method,
    target: Bytes,
    version: Version,
    headers: &HeaderMap,
) -> Result<Uri, Malformed> {
    // This parser would ignore a fragment, others might not.
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
    let named = host(version, headers)?;
    let Some(authority) = uri.authority().map(|authority| authority.as_str().as_bytes()) else {
        return Ok(uri);
    };
    let is_other =
        method == Method::CONNECT && named.is_some_and(|host| !authority.eq_ignore_ascii_case(host));
    if is_other || !is_host(authority) { Err(Malformed::Host) } else { Ok(uri) }
}
