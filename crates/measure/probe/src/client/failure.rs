//! Why a measured request failed, as a phrase that is stable between runs and contains no text from
//! the server.

use std::{fmt, io};

use http_stack::client::Phase;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    Http(http_stack::Failure),
    Timeout(Phase),
    Abandoned,
    /// The request was due, but too many others were in flight.
    NotSent,
    Redirects,
    Location,
}

impl Failure {
    pub(crate) const TIMEOUT: Self = Self::Http(http_stack::Failure::Timeout);

    pub(crate) const NOT_SENT: &str = "not sent: too many in flight";

    pub(crate) fn from_io(error: &io::Error) -> Self {
        Self::Http(http_stack::Failure::from_io(error))
    }

    /// The measuring machine ran out of sockets, which is not the server's fault.
    pub(crate) fn is_own_shortage(phrase: &str) -> bool {
        [http_stack::Failure::OutOfFiles, http_stack::Failure::OutOfPorts]
            .iter()
            .any(|own| phrase == own.to_string())
    }
}

impl From<http_stack::Failure> for Failure {
    fn from(failure: http_stack::Failure) -> Self {
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
