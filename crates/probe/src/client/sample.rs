//! What a request that is over comes to: from its trace to a sample.

use cache::Told;
use http::{
    HeaderMap, StatusCode,
    client::{Early, Trace},
    header,
};
use recording::Sample;

use super::failure::Failure;
use crate::Family;

/// The part of the final response's head that is recorded or needed.
#[derive(Default)]
pub(crate) struct Head {
    pub(crate) status: Option<StatusCode>,
    pub(crate) location: Option<String>,
    pub(crate) server_timing: Option<String>,
    pub(crate) told: Option<Told>,
}

impl Head {
    pub(crate) fn of(status: StatusCode, headers: &HeaderMap) -> Self {
        let timings: Vec<&str> =
            headers.get_all("server-timing").iter().filter_map(|value| value.to_str().ok()).collect();
        Self {
            status: Some(status),
            location: headers.get(header::LOCATION).and_then(|value| value.to_str().ok()).map(str::to_owned),
            told: Told::read(headers),
            server_timing: (!timings.is_empty()).then(|| timings.join(", ")),
        }
    }
}

/// The sample. A failed one keeps the phases that were over, and has no latency.
pub(crate) fn sample(trace: &Trace, head: Head, failure: Option<Failure>) -> Sample {
    let since_start = |at: Option<u64>| at.map(|at| at.saturating_sub(trace.started));
    // Only the response proves that the request was written to its end.
    let written = trace.final_headers.and(trace.first_write().zip(trace.last_write()));
    let (first_write, last_write) = written.unzip();
    let last_byte = trace.last_byte().filter(|_| failure.is_none());
    let mut sample = Sample {
        started_ns: Some(trace.started),
        dns_ns: trace.dns,
        connect_ns: trace.connect,
        tls_ns: trace.tls,
        quic_ns: trace.quic,
        send_ns: span(first_write, last_write),
        // 0 if the response came before the request had been sent to its end.
        wait_ns: span(last_write, trace.final_headers),
        load_ns: span(trace.first_body_byte(), last_byte),
        first_interim_ns: since_start(trace.first_interim()),
        final_headers_ns: since_start(trace.final_headers),
        first_body_byte_ns: since_start(trace.first_body_byte()),
        last_byte_ns: since_start(last_byte),
        status: head.status.map(|status| status.as_u16()),
        body_bytes: trace.final_headers.map(|_| trace.body_bytes()),
        wire_sent_bytes: trace.wire().map(|wire| wire.sent),
        wire_received_bytes: trace.wire().map(|wire| wire.received),
        cache: head.told.as_ref().map(|told| told.cache.to_owned()),
        tier: head.told.map(|told| told.tier),
        server_timing: head.server_timing,
        reused: trace.reused,
        remote: trace.remote.map(|remote| remote.to_string()),
        local: trace.local.map(|local| local.to_string()),
        family: trace.remote.map(|remote| Family::of(remote.ip()).name().to_owned()),
        fallback: trace.fallback,
        error: failure.map(|failure| failure.to_string()),
        ..Sample::default()
    };
    if let Some(protocol) = trace.protocol {
        sample.labels.insert("protocol".to_owned(), protocol.to_owned());
    }
    let name = trace.is_name_cached.then_some("cached");
    let resumed = trace.resumed.map(|resumed| if resumed { "true" } else { "false" });
    for (label, value) in [
        ("lookup", name),
        ("tls", trace.tls_version),
        ("cipher", trace.cipher),
        ("resumed", resumed),
        ("early", trace.early.map(Early::name)),
    ] {
        if let Some(value) = value {
            sample.labels.insert(label.to_owned(), value.to_owned());
        }
    }
    if trace.queued {
        sample.labels.insert("queued".to_owned(), "stream limit".to_owned());
    }
    if trace.retried {
        sample.labels.insert("retried".to_owned(), "idle connection was closed".to_owned());
    }
    sample
}

fn span(from: Option<u64>, to: Option<u64>) -> Option<u64> {
    Some(to?.saturating_sub(from?))
}
