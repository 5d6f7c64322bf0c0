//! Error responses that this data centre makes itself.

use http_stack::{Body, HeaderValue, Response, StatusCode, header};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) status: StatusCode,
    /// The `detail` parameter of Cache-Status.
    pub(crate) code: &'static str,
    pub(crate) message: &'static str,
}

impl Rejection {
    const fn new(status: StatusCode, word: &'static str, sentence: &'static str) -> Self {
        Self { status, code: word, message: sentence }
    }

    pub(crate) fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    pub(crate) fn response(self) -> Response<Body> {
        let mut response = Response::new(Body::whole(format!("{}\n", self.message)));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }
}

pub(super) const NO_PEER: Rejection =
    Rejection::new(StatusCode::INTERNAL_SERVER_ERROR, "no-peer", "The request has no client.");

pub(super) const NO_TUNNELS: Rejection =
    Rejection::new(StatusCode::METHOD_NOT_ALLOWED, "no-tunnels", "CONNECT is not supported.");

pub(crate) const BAD_HOST: Rejection =
    Rejection::new(StatusCode::BAD_REQUEST, "bad-host", "The request does not name one host.");

pub(super) const BAD_TARGET: Rejection =
    Rejection::new(StatusCode::BAD_REQUEST, "bad-target", "The request's target is not a path.");

pub(crate) const OUTSIDE_PREFIX: Rejection = Rejection::new(
    StatusCode::BAD_REQUEST,
    "outside-prefix",
    "Some servers would read the request's path as one outside of the origin's prefix.",
);

pub(super) const LONG_URL: Rejection =
    Rejection::new(StatusCode::URI_TOO_LONG, "url-too-long", "A rule makes the request's URL too long.");

pub(super) const UNKNOWN_HOST: Rejection =
    Rejection::new(StatusCode::MISDIRECTED_REQUEST, "unknown-host", "This network does not serve that host.");

pub(super) const LOOP: Rejection =
    Rejection::new(StatusCode::LOOP_DETECTED, "loop", "Request loop: the origin leads back to this network.");

pub(super) const OTHER_RULES: Rejection = Rejection::new(
    StatusCode::MISDIRECTED_REQUEST,
    "other-rules",
    "This data centre has another zone or another key for the request.",
);

pub(crate) const NOT_CACHED: Rejection = Rejection::new(
    StatusCode::GATEWAY_TIMEOUT,
    "not-cached",
    "The request requires a stored response, but no usable one exists.",
);

pub(crate) const UNREACHABLE: Rejection = Rejection::new(
    StatusCode::BAD_GATEWAY,
    "origin-unreachable",
    "The origin could not be reached, or closed the connection early.",
);

pub(crate) const BROKE_OFF: Rejection = Rejection::new(
    StatusCode::BAD_GATEWAY,
    "origin-broke-off",
    "The origin's response ended early, before any of it was sent.",
);

pub(crate) const NOT_TRUSTED: Rejection = Rejection::new(
    StatusCode::BAD_GATEWAY,
    "origin-not-trusted",
    "The TLS handshake with the origin failed.",
);

pub(crate) const BUSY: Rejection = Rejection::new(
    StatusCode::SERVICE_UNAVAILABLE,
    "busy",
    "Too many requests are already waiting for the origin.",
);

pub(crate) const CONTENT_TOO_LARGE: Rejection = Rejection::new(
    StatusCode::PAYLOAD_TOO_LARGE,
    "content-too-large",
    "The request's content is larger than this site accepts.",
);

pub(crate) const RATE_LIMITED: Rejection = Rejection::new(
    StatusCode::TOO_MANY_REQUESTS,
    "rate-limited",
    "Too many requests: send the next one after the time in Retry-After.",
);

pub(crate) const INCOMPLETE: Rejection = Rejection::new(
    StatusCode::REQUEST_TIMEOUT,
    "incomplete",
    "The request's body did not arrive in time or is truncated.",
);

pub(crate) const TOO_SLOW: Rejection =
    Rejection::new(StatusCode::GATEWAY_TIMEOUT, "origin-too-slow", "The origin did not respond in time.");
