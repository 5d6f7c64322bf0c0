//! The page: its three files, which are compiled in, and what a browser may do with them.

use http::{Body, HeaderName, HeaderValue, Response, Scheme, StatusCode, header};

use super::answer::text;

/// A file of the page; none if there is none of that path.
pub(crate) fn file(path: &str, scheme: Scheme) -> Option<Response<Body>> {
    let (content, kind) = match path {
        "/" => (include_str!("../../../../web/dist/speed.html"), "text/html; charset=utf-8"),
        "/speed.js" => (include_str!("../../../../web/dist/speed.js"), "text/javascript; charset=utf-8"),
        "/speed.css" => (include_str!("../../../../web/dist/speed.css"), "text/css; charset=utf-8"),
        _ => return None,
    };
    let mut response = text(StatusCode::OK, "");
    *response.body_mut() = Body::whole(content.as_bytes());
    let fields = response.headers_mut();
    fields.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    // In clear text a browser ignores some of them, and says so to whoever looks at its console.
    let alone = if scheme == Scheme::Https { ALONE.as_slice() } else { &[] };
    for (name, value) in GUARDS.iter().chain(alone).copied() {
        fields.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    Some(response)
}

/// Nothing is loaded from elsewhere, sent elsewhere or shown elsewhere.
const GUARDS: [(&str, &str); 4] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
    ),
    ("cross-origin-resource-policy", "same-origin"),
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
];

/// Alone in its process the page has a clock of 5 us and not of 100.
const ALONE: [(&str, &str); 2] =
    [("cross-origin-opener-policy", "same-origin"), ("cross-origin-embedder-policy", "require-corp")];
