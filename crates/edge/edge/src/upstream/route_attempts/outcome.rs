//! The outcome of a request on one route, and whether the route is at fault.
//!
//! Any failure before a complete response head counts against the route, unless it would be the
//! same on every route. A reused connection may have been closed because it was idle: this counts
//! against no route.

use std::time::Duration;

use ::tier_routing::{Fault, Route};
use http_stack::{Body, Failure, Response, Stage, StatusCode, client::Trace};

use crate::{
    peers::client::PeerError,
    request::rejection::{NOT_TRUSTED, Rejection, TOO_SLOW, UNREACHABLE},
    upstream::origins::rejection_for,
};

pub(super) struct Attempt {
    pub(super) route: Route,
    pub(super) result: Result<Response<Body>, RouteError>,
    pub(super) connect: Option<Duration>,
    pub(super) latency: Duration,
    pub(super) was_sent: bool,
    pub(super) is_reused: bool,
}

#[derive(Debug)]
pub(super) enum RouteError {
    Direct(Failure),
    Through(PeerError),
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum FailureScope {
    None,
    /// The fault is remembered.
    Path(Fault),
    /// The peer has no capacity, or an idle connection was closed.
    Unknown,
    /// The request or this machine is at fault: another route would not help.
    Request,
}

impl Attempt {
    pub(super) fn direct(result: Result<Response<Body>, Failure>, trace: &Trace, now: u64) -> Self {
        let opened = trace.connect.map(|connect| connect + trace.tls.unwrap_or(0)).or(trace.quic);
        Self {
            route: Route::Direct,
            result: result.map_err(RouteError::Direct),
            connect: opened.map(Duration::from_nanos),
            latency: Duration::from_nanos(trace.final_headers.unwrap_or(now).saturating_sub(trace.started)),
            was_sent: trace.first_write().is_some(),
            is_reused: trace.reused == Some(true),
        }
    }

    pub(super) fn through(
        route: Route,
        answered: Result<Response<Body>, PeerError>,
        latency: Duration,
    ) -> Self {
        let was_sent = !answered.as_ref().is_err_and(PeerError::was_not_sent);
        let result = answered.map_err(RouteError::Through);
        Self { route, result, connect: None, latency, was_sent, is_reused: false }
    }

    pub(super) fn is_silence(&self) -> bool {
        self.was_sent && matches!(self.result, Err(RouteError::Direct(Failure::Timeout)))
    }

    /// Responses with these statuses count against the route.
    pub(super) fn scope(&self, statuses: &[StatusCode]) -> FailureScope {
        match &self.result {
            Ok(response) if statuses.contains(&response.status()) => {
                FailureScope::Path(Fault::HttpResponseStatus)
            }
            Ok(_) => FailureScope::None,
            Err(RouteError::Direct(failure)) => self.failure_scope(*failure),
            Err(RouteError::Through(unanswered)) => scope_through(unanswered),
        }
    }

    fn failure_scope(&self, failure: Failure) -> FailureScope {
        FailureScope::Path(match failure {
            Failure::Timeout if self.was_sent => Fault::HttpResponseTimeout,
            Failure::Timeout if self.connect.is_some() => Fault::TlsProtocolError,
            Failure::Timeout | Failure::KernelTimeout => Fault::ConnectionTimeout,
            Failure::Refused | Failure::Unreachable => Fault::ConnectionRefused,
            failure if failure.is_own_shortage() || failure.is_capacity_error() => {
                return FailureScope::Request;
            }
            Failure::Dns(_)
            | Failure::NoAddress(_)
            | Failure::TooLarge
            | Failure::Source
            | Failure::Closed(Stage::Body) => return FailureScope::Request,
            _ if self.is_reused => return FailureScope::Unknown,
            Failure::Tls(_) => Fault::TlsProtocolError,
            Failure::Garbled | Failure::Http2(Some(_)) | Failure::Http3(_) => Fault::HttpProtocolError,
            _ => Fault::ConnectionTerminated,
        })
    }

    pub(super) fn sentence(&self) -> String {
        match &self.result {
            Ok(response) => format!("status {}", response.status().as_u16()),
            Err(RouteError::Direct(failure)) => failure.to_string(),
            Err(RouteError::Through(unanswered)) => unanswered.to_string(),
        }
    }
}

fn scope_through(unanswered: &PeerError) -> FailureScope {
    match unanswered {
        PeerError::Failed(Failure::Source) => FailureScope::Request,
        unanswered if unanswered.was_not_sent() => FailureScope::Unknown,
        PeerError::Rejected(word) if *word == TOO_SLOW.code => FailureScope::Path(Fault::HttpResponseTimeout),
        PeerError::Rejected(word) if *word == NOT_TRUSTED.code => FailureScope::Path(Fault::TlsProtocolError),
        _ => FailureScope::Path(Fault::DestinationUnavailable),
    }
}

impl RouteError {
    pub(super) fn refusal(&self) -> Rejection {
        match self {
            Self::Direct(failure) | Self::Through(PeerError::Failed(failure @ Failure::Source)) => {
                rejection_for(*failure)
            }
            Self::Through(PeerError::Rejected(word)) if *word == TOO_SLOW.code => TOO_SLOW,
            Self::Through(PeerError::Rejected(word)) if *word == NOT_TRUSTED.code => NOT_TRUSTED,
            Self::Through(_) => UNREACHABLE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, Copy, PartialEq)]
    enum AttemptResult {
        Nothing,
        Connection,
        Sent,
        SentOnKept,
    }

    fn blame(failure: Failure, got: AttemptResult) -> FailureScope {
        let tried = Attempt {
            route: Route::Direct,
            result: Err(RouteError::Direct(failure)),
            connect: matches!(got, AttemptResult::Connection | AttemptResult::Sent).then_some(Duration::ZERO),
            latency: Duration::ZERO,
            was_sent: matches!(got, AttemptResult::Sent | AttemptResult::SentOnKept),
            is_reused: got == AttemptResult::SentOnKept,
        };
        tried.scope(&[])
    }

    #[test]
    fn failure_before_a_head_is_a_path_fault() {
        use AttemptResult::{Connection, Nothing, Sent, SentOnKept};
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
            assert_eq!(blame(failure, got), FailureScope::Path(fault), "{failure} {got:?}");
        }
        // The origin may have closed a reused connection because it was idle.
        for failure in [Failure::Reset, closed, Failure::Garbled] {
            assert_eq!(blame(failure, SentOnKept), FailureScope::Unknown, "{failure}");
        }
        for failure in [Failure::Busy, Failure::OutOfFiles, Failure::Source, Failure::TooLarge] {
            assert_eq!(blame(failure, Sent), FailureScope::Request, "{failure}");
        }
    }
}
