//! Early data (0-RTT): which requests may use it, and the results.
//!
//! An attacker on the path can replay early data, and the server would process it again (RFC 8470). So
//! only requests that are safe to repeat are sent early.

use hyper::{Request, body::Body as _};

use crate::{Body, Failure};

/// The result of sending a request as early data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Early {
    /// The server accepted it; the request did not wait for a handshake.
    Accepted,
    /// The server rejected it; the request was sent again after the handshake.
    Rejected,
    /// The server accepted it and responded 425 (Too Early); the request was sent again after another
    /// handshake.
    TooEarly,
}

impl Early {
    /// The name in recordings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::TooEarly => "too early",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EarlyData {
    Allowed,
    Forbidden,
}

impl EarlyData {
    /// Allows safe methods (RFC 9110 section 9.2.1) without a body.
    pub(crate) fn of(request: &Request<Body>) -> Self {
        if request.method().is_safe() && request.body().is_end_stream() {
            Self::Allowed
        } else {
            Self::Forbidden
        }
    }
}

/// The failure if ALPN selects another HTTP version than the early data was written for.
pub(crate) const IN_ANOTHER_VERSION: Failure = Failure::Tls("no common HTTP version");
