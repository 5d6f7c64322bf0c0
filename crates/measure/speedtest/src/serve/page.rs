//! The compiled-in web pages, and their security headers.

use http_stack::{Body, HeaderName, HeaderValue, Response, Scheme, StatusCode, header};

use super::answer::text;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Known,
    None,
}

pub(crate) fn file(path: &str, operator: Operator, scheme: Scheme) -> Option<Response<Body>> {
    let (html, js, css) =
        ("text/html; charset=utf-8", "text/javascript; charset=utf-8", "text/css; charset=utf-8");
    let (content, kind) = match (path, operator) {
        ("/", _) => (include_str!("../../../../../web/dist/speed.html"), html),
        ("/speed.js", _) => (include_str!("../../../../../web/dist/speed.js"), js),
        ("/speed.css", _) => (include_str!("../../../../../web/dist/speed.css"), css),
        ("/operator", Operator::Known) => (include_str!("../../../../../web/dist/operator.html"), html),
        ("/operator.js", Operator::Known) => (include_str!("../../../../../web/dist/operator.js"), js),
        ("/operator.css", Operator::Known) => (include_str!("../../../../../web/dist/operator.css"), css),
        _ => return None,
    };
    let mut response = text(StatusCode::OK, "");
    *response.body_mut() = Body::whole(content.as_bytes());
    let fields = response.headers_mut();
    fields.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    // In clear text browsers ignore some of these headers and log a warning.
    let alone = if scheme == Scheme::Https { ALONE.as_slice() } else { &[] };
    for (name, value) in GUARDS.iter().chain(alone).copied() {
        fields.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    Some(response)
}

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

/// Cross-origin isolation gives a page a clock resolution of 5 us instead of 100 us.
const ALONE: [(&str, &str); 2] =
    [("cross-origin-opener-policy", "same-origin"), ("cross-origin-embedder-policy", "require-corp")];
