//! The result of a finished request: cheap to create on the measuring thread.
//! [`SampleBuilder`](super::scribe::Scribe) converts it to a sample.

use std::net::SocketAddr;

use http_stack::client::{Early, Trace};

use super::{failure::Failure, head::Head};

/// Times are in nanoseconds, and absent if the event did not happen.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    pub(crate) intended: Option<u64>,
    pub(crate) page: Option<u64>,
    pub(crate) chain: Option<u64>,
    pub(crate) url: Option<String>,
    pub(crate) object: Option<usize>,
    pub(crate) failure: Option<Failure>,
    pub(crate) started: Option<u64>,
    pub(crate) phases: Phases,
    pub(crate) stamps: Stamps,
    pub(crate) body_bytes: Option<u64>,
    pub(crate) wire_bytes: Option<http_stack::client::WireBytes>,
    pub(crate) head: Head,
    pub(crate) remote: Option<SocketAddr>,
    pub(crate) local: Option<SocketAddr>,
    pub(crate) reused: Option<bool>,
    pub(crate) fallback: Option<bool>,
    pub(crate) names: Names,
}

#[derive(Debug, Default)]
pub(crate) struct Phases {
    pub(crate) dns: Option<u64>,
    pub(crate) connect: Option<u64>,
    pub(crate) tls: Option<u64>,
    pub(crate) quic: Option<u64>,
    pub(crate) send: Option<u64>,
    pub(crate) wait: Option<u64>,
    pub(crate) load: Option<u64>,
}

/// Since the start of the request.
#[derive(Debug, Default)]
pub(crate) struct Stamps {
    pub(crate) first_interim: Option<u64>,
    pub(crate) final_headers: Option<u64>,
    pub(crate) first_body_byte: Option<u64>,
    pub(crate) last_byte: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Names([Option<(&'static str, &'static str)>; 8]);

impl Names {
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.0.iter().copied().flatten()
    }

    fn of(trace: &Trace) -> Self {
        let named = |name, value: Option<&'static str>| value.map(|value| (name, value));
        Self([
            named("protocol", trace.protocol),
            named("lookup", trace.is_name_cached.then_some("cached")),
            named("tls", trace.tls_version),
            named("cipher", trace.cipher),
            named("resumed", trace.resumed.map(|resumed| if resumed { "true" } else { "false" })),
            named("early", trace.early.map(Early::name)),
            named("queued", trace.queued.then_some("stream limit")),
            named("retried", trace.retried.then_some("idle connection was closed")),
        ])
    }
}

impl Measured {
    pub(crate) fn unsent(intended: u64) -> Self {
        Self { intended: Some(intended), failure: Some(Failure::NotSent), ..Self::default() }
    }

    /// A failed request keeps its completed phases, and has no last byte.
    pub(crate) fn of(trace: &Trace, head: Head, failure: Option<Failure>) -> Self {
        let since_start = |at: Option<u64>| at.map(|at| at.saturating_sub(trace.started));
        // Only the response proves that the request was written completely.
        let written = trace.final_headers.and(trace.first_write().zip(trace.last_write()));
        let (first_write, last_write) = written.unzip();
        let last_byte = trace.last_byte().filter(|_| failure.is_none());
        let first_body_byte = trace.first_body_byte();
        Self {
            failure,
            started: Some(trace.started),
            phases: Phases {
                dns: trace.dns,
                connect: trace.connect,
                tls: trace.tls,
                quic: trace.quic,
                send: span(first_write, last_write),
                // 0 if the response arrived before the request was sent completely.
                wait: span(last_write, trace.final_headers),
                load: span(first_body_byte, last_byte),
            },
            stamps: Stamps {
                first_interim: since_start(trace.first_interim()),
                final_headers: since_start(trace.final_headers),
                first_body_byte: since_start(first_body_byte),
                last_byte: since_start(last_byte),
            },
            body_bytes: trace.final_headers.map(|_| trace.body_bytes()),
            wire_bytes: trace.wire(),
            head,
            remote: trace.remote,
            local: trace.local,
            reused: trace.reused,
            fallback: trace.fallback,
            names: Names::of(trace),
            ..Self::default()
        }
    }
}

fn span(from: Option<u64>, to: Option<u64>) -> Option<u64> {
    Some(to?.saturating_sub(from?))
}
