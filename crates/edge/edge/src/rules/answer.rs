//! Responses that a rule makes instead of the cache and the origin.

use http_stack::{Bytes, HeaderMap, StatusCode};

/// The response of a rule with `respond`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FixedResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// A response that ends a request before the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) response: FixedResponse,
    pub(crate) kind: AnswerKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerKind {
    Redirect,
    Respond,
    Preflight,
}

impl AnswerKind {
    /// The `detail` parameter of Cache-Status.
    pub(crate) fn detail(self) -> &'static str {
        match self {
            Self::Redirect => "redirect",
            Self::Respond => "respond",
            Self::Preflight => "preflight",
        }
    }
}

impl FixedResponse {
    /// Whether a response with this status has a body (RFC 9110 section 6.4.1).
    pub(crate) fn may_have_body(status: StatusCode) -> bool {
        !matches!(status.as_u16(), 204 | 205 | 304)
    }
}
