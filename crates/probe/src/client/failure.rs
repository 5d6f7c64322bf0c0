//! Why a measured request failed, as a short phrase that stays the same from run to run.
//!
//! Failures are counted by their phrase, so nothing that a server chooses may get into one.

use std::{fmt, io};

use http::client::Step;

/// Why a request, or a ping, failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// HTTP's reason, or its connection's.
    Http(http::Failure),
    /// It took longer than it may, and this is what it was waiting for.
    Timeout(Step),
    /// The run ended before the response did.
    Abandoned,
    /// It was due, and too many others were in flight.
    NotSent,
    /// More redirects than [`crate::limits::REDIRECTS`].
    Redirects,
    /// A redirect to what is no URL that can be asked for.
    Location,
}

impl Failure {
    /// It took longer than it may.
    pub(crate) const TIMEOUT: Self = Self::Http(http::Failure::Timeout);

    /// The phrase of one that was not sent.
    pub(crate) const NOT_SENT: &str = "not sent: too many in flight";

    /// What an error of a socket comes to.
    pub(crate) fn from_io(error: &io::Error) -> Self {
        Self::Http(http::Failure::from_io(error))
    }

    /// Whether the measuring machine was short of sockets, which is not the server's fault.
    pub(crate) fn is_own_shortage(phrase: &str) -> bool {
        [http::Failure::OutOfFiles, http::Failure::OutOfPorts].iter().any(|own| phrase == own.to_string())
    }
}

impl From<http::Failure> for Failure {
    fn from(failure: http::Failure) -> Self {
        Self::Http(failure)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http(failure) => failure.fmt(f),
            Self::Timeout(step) => write!(f, "timeout: {step}"),
            Self::Abandoned => f.write_str("unfinished when the run ended"),
            Self::NotSent => f.write_str(Self::NOT_SENT),
            Self::Redirects => f.write_str("too many redirects"),
            Self::Location => f.write_str("the redirect's Location cannot be followed"),
        }
    }
}
