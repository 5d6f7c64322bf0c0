//! The header of a request as its origin gets it: without hop-by-hop fields, and in the one form that rules, keys and conditions see.

use cache::{
    internal, overrides_request,
    update::{clear_connection_fields, join_cookies},
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Version, header, http1::framing::has_token};

/// What hop-by-hop fields of a request asked for.
pub(crate) struct HopByHop {
    /// Another protocol, such as WebSocket.
    pub(crate) protocol: Option<HeaderValue>,
    pub(crate) accepts_trailers: bool,
}

/// Leaves the end-to-end fields of a request.
pub(crate) fn keep_end_to_end(method: &Method, version: Version, headers: &mut HeaderMap) -> HopByHop {
    internal::clear(headers);
    let protocol = wanted(method, version, headers);
    let accepts_trailers = has_token(headers, &header::TE, "trailers");
    clear_connection_fields(headers);
    join_cookies(headers);
    remove_twins(headers);
    HopByHop { protocol, accepts_trailers }
}

/// The protocol that a request asks for, if it is one that can be passed through.
fn wanted(method: &Method, version: Version, headers: &HeaderMap) -> Option<HeaderValue> {
    let asks = has_token(headers, &header::CONNECTION, "upgrade");
    let mut lines = headers.get_all(header::UPGRADE).iter();
    let (Some(protocol), None) = (lines.next(), lines.next()) else { return None };
    let name = protocol.to_str().ok()?.to_ascii_lowercase();
    // Requests under another version of HTTP, or under TLS, would pass by the rules of this network.
    let is_http = ["h2c", "http/", "tls/"].iter().any(|other| name.contains(other));
    // What HEAD asks for is what a GET would say, and no connection (RFC 9110 section 9.3.2).
    (asks && *method != Method::HEAD && version == Version::HTTP_11 && !is_http).then(|| protocol.clone())
}

/// Removes fields that an origin could take for another one, as many read `_` in a name as `-`: `X_Forwarded_For` and the like, of
/// which this data centre adds the right ones, what frames a message, and what is a part of its key.
fn remove_twins(headers: &mut HeaderMap) {
    let is_twin = |name: &&HeaderName| {
        let hyphenated = name.as_str().replace('_', "-");
        OWN.iter().any(|name| *name == *hyphenated)
            || headers.contains_key(&hyphenated)
            || internal::is_internal(hyphenated.as_bytes())
            || overrides_request(&hyphenated, b"host=a")
    };
    let underscored = headers.keys().filter(|name| name.as_str().contains('_'));
    let twins: Vec<_> = underscored.filter(is_twin).cloned().collect();
    for twin in &twins {
        headers.remove(twin);
    }
}

/// Fields with a hyphen that frame a request or are added on the way to its origin.
const OWN: [HeaderName; 5] = [
    header::TRANSFER_ENCODING,
    header::CONTENT_LENGTH,
    HeaderName::from_static("x-forwarded-for"),
    HeaderName::from_static("x-forwarded-proto"),
    HeaderName::from_static("cdn-loop"),
];
