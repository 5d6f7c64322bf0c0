//! Reduces a request header to its end-to-end fields, in the form that rules, keys, conditions and
//! origins use.

use http_cache::{
    hop_by_hop::{join_cookies, remove_hop_by_hop},
    internal_headers, overrides_request,
};
use http_stack::{HeaderMap, HeaderName, HeaderValue, Method, Version, header, http1::framing::has_token};

pub(crate) struct HopByHop {
    pub(crate) protocol: Option<HeaderValue>,
    pub(crate) accepts_trailers: bool,
}

pub(crate) fn strip_hop_by_hop(method: &Method, version: Version, headers: &mut HeaderMap) -> HopByHop {
    internal_headers::clear(headers);
    let protocol = upgrade_protocol(method, version, headers);
    let accepts_trailers = has_token(headers, &header::TE, "trailers");
    remove_hop_by_hop(headers);
    join_cookies(headers);
    remove_ambiguous(headers);
    HopByHop { protocol, accepts_trailers }
}

fn upgrade_protocol(method: &Method, version: Version, headers: &HeaderMap) -> Option<HeaderValue> {
    let asks = has_token(headers, &header::CONNECTION, "upgrade");
    let mut lines = headers.get_all(header::UPGRADE).iter();
    let (Some(protocol), None) = (lines.next(), lines.next()) else { return None };
    let name = protocol.to_str().ok()?.to_ascii_lowercase();
    // Tunnelled HTTP requests would bypass the rules of this network.
    let is_http = ["h2c", "http/", "tls/"].iter().any(|other| name.contains(other));
    // HEAD never switches protocols (RFC 9110 section 9.3.2).
    (asks && *method != Method::HEAD && version == Version::HTTP_11 && !is_http).then(|| protocol.clone())
}

/// Many origins treat `_` in a name like `-`, for example in `X_Forwarded_For`. Only fields that
/// this data centre adds, that frame a message, or that are part of the cache key are ambiguous.
fn remove_ambiguous(headers: &mut HeaderMap) {
    let is_twin = |name: &&HeaderName| {
        let hyphenated = name.as_str().replace('_', "-");
        HYPHENATED.iter().any(|name| *name == *hyphenated)
            || headers.contains_key(&hyphenated)
            || internal_headers::is_internal(hyphenated.as_bytes())
            || overrides_request(&hyphenated, b"host=a")
    };
    let underscored = headers.keys().filter(|name| name.as_str().contains('_'));
    let twins: Vec<_> = underscored.filter(is_twin).cloned().collect();
    for twin in &twins {
        headers.remove(twin);
    }
}

const HYPHENATED: [HeaderName; 5] = [
    header::TRANSFER_ENCODING,
    header::CONTENT_LENGTH,
    HeaderName::from_static("x-forwarded-for"),
    HeaderName::from_static("x-forwarded-proto"),
    HeaderName::from_static("cdn-loop"),
];
