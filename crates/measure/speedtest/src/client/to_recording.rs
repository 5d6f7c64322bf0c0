//! Converts a test to a recording: probes have a latency, transfers a total time, and labels
//! contain the load.

use std::{collections::BTreeMap, time::Duration};

use http_stack::{Family, client::Trace};
use recording::{Header, SCHEMA, Sample};

use super::{request::Look, transfer::Request};
use crate::{
    latency::{During, On},
    plan::Direction,
    result::Outcome,
};

/// The header of the recording.
pub fn header(outcome: &Outcome) -> Header {
    let conditions = [
        ("url", outcome.url.clone()),
        ("plan", outcome.plan.clone()),
        ("protocol", outcome.protocol.clone()),
        ("streams", outcome.streams.to_string()),
    ];
    Header {
        schema: SCHEMA.to_owned(),
        tool: "longhaul speed test".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        host: None,
        clock: "monotonic".to_owned(),
        start: Some(outcome.started.clone()),
        label: None,
        conditions: conditions.map(|(name, value)| (name.to_owned(), value)).into(),
    }
}

pub(crate) fn latency(look: &Look, sent: Duration, during: During, on: On) -> Sample {
    let ms = Duration::from_secs_f64(look.ms() / 1e3);
    let connection = match on {
        On::Same => "same",
        On::Separate => "separate",
    };
    let line = match during {
        During::Idle => "idle",
        During::Download => "download",
        During::Upload => "upload",
    };
    Sample {
        started_ns: Some(http_stack::clock::nanos(sent)),
        latency_ns: Some(http_stack::clock::nanos(ms)),
        labels: labels(&[("what", "latency"), ("line", line), ("connection", connection)]),
        ..about(&look.trace)
    }
}

pub(crate) fn transfer(request: &Request, direction: Direction, size: u64) -> Sample {
    let trace = &request.trace;
    Sample {
        started_ns: Some(trace.started),
        last_byte_ns: Some(request.ended.saturating_sub(trace.started)),
        body_bytes: Some(request.bytes),
        labels: labels(&[("what", direction.name()), ("size", &units::Bytes(size).to_string())]),
        ..about(trace)
    }
}

fn about(trace: &Trace) -> Sample {
    Sample {
        dns_ns: trace.dns,
        connect_ns: trace.connect,
        tls_ns: trace.tls,
        quic_ns: trace.quic,
        status: Some(200),
        reused: trace.reused,
        remote: trace.remote.map(|remote| remote.to_string()),
        local: trace.local.map(|local| local.to_string()),
        family: trace.remote.map(|remote| Family::of(remote.ip()).name().to_owned()),
        ..Sample::default()
    }
}

fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}
