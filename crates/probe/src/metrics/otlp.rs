//! OpenTelemetry's metrics as OTLP/HTTP sends them in JSON (<https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>), by its
//! conventions for HTTP clients (<https://opentelemetry.io/docs/specs/semconv/http/http-metrics/>).
//!
//! Those would have the durations of failed requests too. A failure has none here, so that failures are counted by a metric of their own.

use serde_json::{Value, json};

use super::{BOUNDS, Buckets, Counts, Kind, Metrics};

/// What was counted of some targets between two moments, in ns since 1970: what a collector takes at `/v1/metrics`.
pub fn otlp(targets: &[Metrics], began_ns: i64, now_ns: i64) -> Value {
    let points: Vec<Value> = targets
        .iter()
        .flat_map(|target| {
            let counts = target.counts();
            let point = |(kind, buckets): (&Kind, &Buckets)| point(&counts, kind, buckets, began_ns, now_ns);
            counts.responses.iter().map(point).collect::<Vec<_>>()
        })
        .collect();
    let failures: Vec<Value> = targets
        .iter()
        .flat_map(|target| {
            let counts = target.counts();
            let count = |(reason, n): (&String, &u64)| failure(&counts, reason, *n, began_ns, now_ns);
            counts.failures.iter().map(count).collect::<Vec<_>>()
        })
        .collect();
    let scope = json!({ "name": "longhaul probe", "version": env!("CARGO_PKG_VERSION") });
    let metric = json!({
        "name": "http.client.request.duration",
        "unit": "s",
        "description": "Duration of HTTP client requests.",
        // Cumulative: each counts from the start.
        "histogram": { "aggregationTemporality": 2, "dataPoints": points },
    });
    let failed = json!({
        "name": "probe.failures",
        "unit": "{request}",
        "description": "HTTP requests that failed, by reason.",
        "sum": { "aggregationTemporality": 2, "isMonotonic": true, "dataPoints": failures },
    });
    let service = [text("service.name", "longhaul")];
    json!({ "resourceMetrics": [{
        "resource": { "attributes": service },
        "scopeMetrics": [{ "scope": scope, "metrics": [metric, failed] }],
    }] })
}

fn point(counts: &Counts, kind: &Kind, buckets: &Buckets, began_ns: i64, now_ns: i64) -> Value {
    let mut attributes = attributes(counts);
    attributes.push(number("http.response.status_code", kind.status.into()));
    attributes.extend(kind.version.map(|version| text("network.protocol.version", version)));
    // 64-bit integers are strings in the JSON of protocol buffers.
    let bucket_counts: Vec<String> = buckets.counts().iter().map(u64::to_string).collect();
    json!({
        "attributes": attributes,
        "startTimeUnixNano": began_ns.to_string(),
        "timeUnixNano": now_ns.to_string(),
        "count": buckets.n().to_string(),
        "sum": buckets.sum_s(),
        "bucketCounts": bucket_counts,
        "explicitBounds": BOUNDS.as_slice(),
    })
}

fn failure(counts: &Counts, reason: &str, n: u64, began_ns: i64, now_ns: i64) -> Value {
    let mut attributes = attributes(counts);
    attributes.push(text("error.type", reason));
    json!({
        "attributes": attributes,
        "startTimeUnixNano": began_ns.to_string(),
        "timeUnixNano": now_ns.to_string(),
        "asInt": n.to_string(),
    })
}

/// What all requests to a target have in common.
fn attributes(counts: &Counts) -> Vec<Value> {
    let (host, port) = &counts.server;
    vec![
        text("http.request.method", &counts.method),
        text("server.address", host),
        number("server.port", (*port).into()),
        text("url.full", &counts.target),
    ]
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

fn number(key: &str, value: i64) -> Value {
    json!({ "key": key, "value": { "intValue": value.to_string() } })
}
