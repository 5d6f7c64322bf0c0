//! The outcome of a request on one path, and whether the path is to blame.
//!
//! Everything that ends before a complete response head counts against a path, unless it would be the same on any other one. A connection that
//! had carried requests before may have been closed for its age: that counts against no path, and the request may still take another one.

use std::time::Duration;

use ::tiers::{Fault, Route};
use http::{Body, Failure, Response, Stage, StatusCode, client::Trace};

use crate::{
    origins::refusal_for,
    toward::Unanswered,
    visit::{NOT_TRUSTED, Refusal, TOO_SLOW, UNREACHABLE},
};

/// The outcome of a request on one path.
pub(super) struct Tried {
    pub(super) route: Route,
    pub(super) result: Result<Response<Body>, Why>,
    /// How long the connection took, if one was made.
    pub(super) connect: Option<Duration>,
    /// How long the head took.
    pub(super) latency: Duration,
    /// Whether something of it was sent.
    pub(super) was_sent: bool,
    /// Whether the connection had carried requests before.
    pub(super) is_reused: bool,
}

/// Why there is no response.
#[derive(Debug)]
pub(super) enum Why {
    Direct(Failure),
    Through(Unanswered),
}

/// What is to blame that a path led to no response.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Blame {
    /// Nothing: there is a response.
    None,
    /// The path, of which this is remembered.
    Path(Fault),
    /// Nothing that is remembered: the other data centre has no room, or a connection was closed for its age.
    Unknown,
    /// The request, or this machine: the next path would not help.
    Request,
}

impl Tried {
    /// An exchange from here that ended at `now`.
    pub(super) fn direct(result: Result<Response<Body>, Failure>, trace: &Trace, now: u64) -> Self {
        let opened = trace.connect.map(|connect| connect + trace.tls.unwrap_or(0)).or(trace.quic);
        Self {
            route: Route::Direct,
            result: result.map_err(Why::Direct),
            connect: opened.map(Duration::from_nanos),
            latency: Duration::from_nanos(trace.final_headers.unwrap_or(now).saturating_sub(trace.started)),
            was_sent: trace.first_write().is_some(),
            is_reused: trace.reused == Some(true),
        }
    }

    /// An exchange through another data centre.
    pub(super) fn through(
        route: Route,
        answered: Result<Response<Body>, Unanswered>,
        latency: Duration,
    ) -> Self {
        let was_sent = !answered.as_ref().is_err_and(Unanswered::was_not_sent);
        let result = answered.map_err(Why::Through);
        Self { route, result, connect: None, latency, was_sent, is_reused: false }
    }

    /// Whether the request was sent, and nothing came back in time.
    pub(super) fn is_silence(&self) -> bool {
        self.was_sent && matches!(self.result, Err(Why::Direct(Failure::Timeout)))
    }

    /// What is to blame; responses with these statuses are the path's.
    pub(super) fn blame(&self, statuses: &[StatusCode]) -> Blame {
        match &self.result {
            Ok(response) if statuses.contains(&response.status()) => Blame::Path(Fault::HttpResponseStatus),
            Ok(_) => Blame::None,
            Err(Why::Direct(failure)) => self.blame_for(*failure),
            Err(Why::Through(unanswered)) => blame_through(unanswered),
        }
    }

    fn blame_for(&self, failure: Failure) -> Blame {
        Blame::Path(match failure {
            Failure::Timeout if self.was_sent => Fault::HttpResponseTimeout,
            Failure::Timeout if self.connect.is_some() => Fault::TlsProtocolError,
            Failure::Timeout | Failure::KernelTimeout => Fault::ConnectionTimeout,
            Failure::Refused | Failure::Unreachable => Fault::ConnectionRefused,
            failure if failure.is_own_shortage() || failure.is_want_of_room() => return Blame::Request,
            Failure::Dns(_)
            | Failure::NoAddress(_)
            | Failure::TooLarge
            | Failure::Source
            | Failure::Closed(Stage::Body) => return Blame::Request,
            _ if self.is_reused => return Blame::Unknown,
            Failure::Tls(_) => Fault::TlsProtocolError,
            Failure::Garbled | Failure::Http2(Some(_)) | Failure::Http3(_) => Fault::HttpProtocolError,
            _ => Fault::ConnectionTerminated,
        })
    }

    /// What happened, for the log.
    pub(super) fn sentence(&self) -> String {
        match &self.result {
            Ok(response) => format!("status {}", response.status().as_u16()),
            Err(Why::Direct(failure)) => failure.to_string(),
            Err(Why::Through(unanswered)) => unanswered.to_string(),
        }
    }
}

fn blame_through(unanswered: &Unanswered) -> Blame {
    match unanswered {
        Unanswered::Failed(Failure::Source) => Blame::Request,
        unanswered if unanswered.was_not_sent() => Blame::Unknown,
        Unanswered::Refused(word) if *word == TOO_SLOW.word => Blame::Path(Fault::HttpResponseTimeout),
        Unanswered::Refused(word) if *word == NOT_TRUSTED.word => Blame::Path(Fault::TlsProtocolError),
        _ => Blame::Path(Fault::DestinationUnavailable),
    }
}

impl Why {
    /// The response to the visitor.
    pub(super) fn refusal(&self) -> Refusal {
        match self {
            Self::Direct(failure) | Self::Through(Unanswered::Failed(failure @ Failure::Source)) => {
                refusal_for(*failure)
            }
            Self::Through(Unanswered::Refused(word)) if *word == TOO_SLOW.word => TOO_SLOW,
            Self::Through(Unanswered::Refused(word)) if *word == NOT_TRUSTED.word => NOT_TRUSTED,
            Self::Through(_) => UNREACHABLE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How far a request got.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Got {
        Nothing,
        Connection,
        Sent,
        SentOnKept,
    }

    fn blame(failure: Failure, got: Got) -> Blame {
        let tried = Tried {
            route: Route::Direct,
            result: Err(Why::Direct(failure)),
            connect: matches!(got, Got::Connection | Got::Sent).then_some(Duration::ZERO),
            latency: Duration::ZERO,
            was_sent: matches!(got, Got::Sent | Got::SentOnKept),
            is_reused: got == Got::SentOnKept,
        };
        tried.blame(&[])
    }

    #[test]
    fn all_that_ends_before_a_head_is_a_fault_of_the_path() {
        use Got::{Connection, Nothing, Sent, SentOnKept};
        let closed = Failure::Closed(Stage::Head);
        for (failure, got, fault) in [
            (Failure::Refused, Nothing, Fault::ConnectionRefused),
            (Failure::Unreachable, Nothing, Fault::ConnectionRefused),
            // A SYN that is answered with a RST is refused: this was reset after the SYN-ACK.
            (Failure::Reset, Nothing, Fault::ConnectionTerminated),
            (Failure::Timeout, Nothing, Fault::ConnectionTimeout),
            (Failure::KernelTimeout, SentOnKept, Fault::ConnectionTimeout),
            (Failure::Timeout, Connection, Fault::TlsProtocolError),
            (Failure::Tls("alert"), Connection, Fault::TlsProtocolError),
            (Failure::Tls("refused after the handshake"), Sent, Fault::TlsProtocolError),
            (Failure::Reset, Connection, Fault::ConnectionTerminated),
            (closed, Connection, Fault::ConnectionTerminated),
            (Failure::Reset, Sent, Fault::ConnectionTerminated),
            (closed, Sent, Fault::ConnectionTerminated),
            (Failure::Http2(None), Sent, Fault::ConnectionTerminated),
            (Failure::Garbled, Sent, Fault::HttpProtocolError),
            (Failure::Http3(0x101), Sent, Fault::HttpProtocolError),
            (Failure::Timeout, Sent, Fault::HttpResponseTimeout),
            (Failure::Timeout, SentOnKept, Fault::HttpResponseTimeout),
        ] {
            assert_eq!(blame(failure, got), Blame::Path(fault), "{failure} {got:?}");
        }
        // A kept connection may have been closed for its age.
        for failure in [Failure::Reset, closed, Failure::Garbled] {
            assert_eq!(blame(failure, SentOnKept), Blame::Unknown, "{failure}");
        }
        for failure in [Failure::Busy, Failure::OutOfFiles, Failure::Source, Failure::TooLarge] {
            assert_eq!(blame(failure, Sent), Blame::Request, "{failure}");
        }
    }
}
