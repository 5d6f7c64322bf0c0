//! Requests that go ahead of a handshake (0-RTT): which may, and what becomes of them.
//!
//! Whoever sees such a request on its way can send it once more, and the server would answer it again (RFC 8470). So only what does no harm
//! twice goes ahead.

use hyper::{Request, body::Body as _};

use crate::{Body, Failure};

/// What became of a request that went ahead of its connection's handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Early {
    /// The server took it: no handshake was waited for.
    Accepted,
    /// The server went on without it, and it was sent once more after the handshake.
    Rejected,
    /// The server took it and answered 425 (Too Early), so that it was made once more after another handshake.
    TooEarly,
}

impl Early {
    /// The word for it in recordings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::TooEarly => "too early",
        }
    }
}

/// Whether a request may go ahead of a handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EarlyData {
    Allowed,
    Forbidden,
}

impl EarlyData {
    /// A safe method (RFC 9110 section 9.2.1), and no body.
    pub(crate) fn of(request: &Request<Body>) -> Self {
        if request.method().is_safe() && request.body().is_end_stream() {
            Self::Allowed
        } else {
            Self::Forbidden
        }
    }
}

/// The failure of a connection on which another version of HTTP was agreed on than what had gone ahead was in.
pub(crate) const IN_ANOTHER_VERSION: Failure = Failure::Tls("no common HTTP version");
