//! The outcome of a request on one route, and whether the route is at fault.
//!
//! Any failure before a complete response head counts against the route, unless it would be the same on every
//! route. A reused connection may have been closed because it was idle: this counts against no route, and the
//! request may be tried on another one.

use std::time::Duration;

use ::tiers::{Fault, Route};
use http::{Body, Failure, Response, Stage, StatusCode, client::Trace};

use crate::{
    origins::refusal_for,
    toward::Unanswered,
    visit::{NOT_TRUSTED, Refusal, TOO_SLOW, UNREACHABLE},
};

pub(super) struct Tried {
    pub(super) route: Route,
    pub(super) result: Result<Response<Body>, Why>,
    /// The time to connect, if a connection was made.
    pub(super) connect: Option<Duration>,
    /// The time to the response head.
    pub(super) latency: Duration,
    /// Whether a part of the request was sent.
    pub(super) was_sent: bool,
    /// Whether the connection had carried requests before.
    pub(super) is_reused: bool,
}

#[derive(Debug)]
pub(super) enum Why {
    Direct(Failure),
    Through(Unanswered),
}

/// The cause of a failure.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Blame {
    None,
    /// The route; the fault is remembered.
    Path(Fault),
    /// Not attributable: the peer has no capacity, or an idle connection was closed.
    Unknown,
    /// The request, or this machine. Another route would not help.
    Request,
}

impl Tried {
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

    pub(super) fn through(
        route: Route,
        answered: Result<Response<Body>, Unanswered>,
        latency: Duration,
    ) -> Self {
        let was_sent = !answered.as_ref().is_err_and(Unanswered::was_not_sent);
        let result = answered.map_err(Why::Through);
        Self { route, result, connect: None, latency, was_sent, is_reused: false }
    }

    /// Whether the request was sent and no response arrived in time.
    pub(super) fn is_silence(&self) -> bool {
        self.was_sent && matches!(self.result, Err(Why::Direct(Failure::Timeout)))
    }

    /// The cause of the failure. Responses with these statuses count against the route.
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
            // A RST in reply to a SYN is `Refused`. This reset arrived after the SYN-ACK.
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
        // The origin may have closed a reused connection because it was idle.
        for failure in [Failure::Reset, closed, Failure::Garbled] {
            assert_eq!(blame(failure, SentOnKept), Blame::Unknown, "{failure}");
        }
        for failure in [Failure::Busy, Failure::OutOfFiles, Failure::Source, Failure::TooLarge] {
            assert_eq!(blame(failure, Sent), Blame::Request, "{failure}");
        }
    }
}
