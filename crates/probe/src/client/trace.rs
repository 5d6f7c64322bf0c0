//! What is known of one request while it runs, and the sample that comes of it in the end.
//!
//! It outlives the request's future, so that a request which times out keeps what was measured until then.

use std::{
    net::SocketAddr,
    sync::{Arc, atomic::AtomicU64},
};

use http::{HeaderMap, Method, StatusCode};
use recording::Sample;

use super::{
    failure::Failure,
    wire::{Wire, happened},
};
use crate::Family;

/// Durations and stamps of one request, in nanoseconds of the run's clock.
#[derive(Default)]
pub(crate) struct Trace {
    pub(crate) started: u64,
    pub(crate) dns: Option<u64>,
    pub(crate) connect: Option<u64>,
    pub(crate) tls: Option<u64>,
    pub(crate) sending: Sending,
    /// Interim responses of a shared connection; an HTTP/1 connection's wire knows its own.
    pub(crate) first_interim: Option<u64>,
    pub(crate) final_headers: Option<u64>,
    pub(crate) first_body_byte: Option<u64>,
    pub(crate) last_byte: Option<u64>,
    pub(crate) status: Option<StatusCode>,
    pub(crate) location: Option<String>,
    pub(crate) server_timing: Option<String>,
    pub(crate) body_bytes: u64,
    pub(crate) protocol: Option<&'static str>,
    pub(crate) reused: Option<bool>,
    /// Where the connection leads.
    pub(crate) remote: Option<SocketAddr>,
    /// Whether it came from another address than the first one tried; `None` if none was opened.
    pub(crate) fallback: Option<bool>,
    /// Whether a reused connection turned out to be closed and the request was made again on a new one.
    pub(crate) retried: bool,
    /// Whether the server allowed no more streams when the request was made, so that it had to wait here.
    pub(crate) queued: bool,
    /// Whether the connection was lost before any of the request was written to it.
    pub(crate) unsent: bool,
}

/// Where the stamps of sending are found.
#[derive(Default)]
pub(crate) enum Sending {
    /// The request has not got that far.
    #[default]
    NotYet,
    /// The connection carries this request alone.
    Alone(Arc<Wire>),
    /// The connection is shared: handed over at `from`; `written` once its last byte was flushed.
    Shared {
        /// When the request was handed to the connection.
        from: u64,
        /// When it had been written, 0 until then.
        written: Arc<AtomicU64>,
    },
}

impl Trace {
    /// A request that starts now.
    pub(crate) fn start(now: u64) -> Self {
        Self { started: now, ..Self::default() }
    }

    /// Takes what matters from the final response's head.
    pub(crate) fn answered(&mut self, status: StatusCode, headers: &HeaderMap) {
        self.status = Some(status);
        self.location =
            headers.get(http::header::LOCATION).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let timings: Vec<&str> =
            headers.get_all("server-timing").iter().filter_map(|value| value.to_str().ok()).collect();
        self.server_timing = (!timings.is_empty()).then(|| timings.join(", "));
    }

    /// Whether the request may be made again on a new connection, as RFC 9110 section 9.2.2 has it: the
    /// reused connection was lost before any response, and either nothing of the request was written or
    /// repeating it does no harm.
    pub(crate) fn may_retry(&self, failure: Failure, method: &Method) -> bool {
        let silent = match &self.sending {
            Sending::NotYet => true,
            Sending::Alone(wire) => wire.first_read().is_none() && wire.first_interim().is_none(),
            Sending::Shared { .. } => self.first_interim.is_none() && self.final_headers.is_none(),
        };
        silent && failure.is_lost_connection() && (self.unsent || method.is_idempotent())
    }

    /// Starts over on a new connection; the time lost stays in the total.
    pub(crate) fn retry(&mut self) {
        *self = Self { retried: true, ..Self::start(self.started) };
    }

    /// The sample. A failed one keeps the phases that were over, and has no latency.
    pub(crate) fn finish(self, failure: Option<Failure>) -> Sample {
        let since_start = |at: Option<u64>| at.map(|at| at.saturating_sub(self.started));
        let (first_write, last_write, wire_interim) = match &self.sending {
            Sending::NotYet => (None, None, None),
            Sending::Alone(wire) => (wire.first_write(), wire.last_write(), wire.first_interim()),
            Sending::Shared { from, written } => (Some(*from), happened(written), None),
        };
        // Only the response proves that the request was written to its end.
        let (first_write, last_write) = self.final_headers.and(first_write.zip(last_write)).unzip();
        let last_byte = self.last_byte.filter(|_| failure.is_none());
        let mut sample = Sample {
            started_ns: Some(self.started),
            dns_ns: self.dns,
            connect_ns: self.connect,
            tls_ns: self.tls,
            send_ns: span(first_write, last_write),
            // 0 if the response came before the request had been sent to its end.
            wait_ns: span(last_write, self.final_headers),
            load_ns: span(self.first_body_byte, last_byte),
            first_interim_ns: since_start(self.first_interim.or(wire_interim)),
            final_headers_ns: since_start(self.final_headers),
            first_body_byte_ns: since_start(self.first_body_byte),
            last_byte_ns: since_start(last_byte),
            status: self.status.map(|status| status.as_u16()),
            body_bytes: self.final_headers.map(|_| self.body_bytes),
            server_timing: self.server_timing,
            reused: self.reused,
            remote: self.remote.map(|remote| remote.to_string()),
            family: self.remote.map(|remote| Family::of(remote.ip()).name().to_owned()),
            fallback: self.fallback,
            error: failure.map(|failure| failure.to_string()),
            ..Sample::default()
        };
        if let Some(protocol) = self.protocol {
            sample.labels.insert("protocol".to_owned(), protocol.to_owned());
        }
        if self.queued {
            sample.labels.insert("queued".to_owned(), "stream limit".to_owned());
        }
        if self.retried {
            sample.labels.insert("retried".to_owned(), "idle connection was closed".to_owned());
        }
        sample
    }
}

fn span(from: Option<u64>, to: Option<u64>) -> Option<u64> {
    Some(to?.saturating_sub(from?))
}
