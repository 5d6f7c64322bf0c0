//! OpenTelemetry's metrics as OTLP/HTTP sends them in JSON (<https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>), by its
//! conventions for HTTP clients (<https://opentelemetry.io/docs/specs/semconv/http/http-metrics/>).

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
    let scope = json!({ "name": "longhaul probe", "version": env!("CARGO_PKG_VERSION") });
    let metric = json!({
        "name": "http.client.request.duration",
        "unit": "s",
        "description": "Duration of HTTP client requests.",
        // Cumulative: each counts from the start.
        "histogram": { "aggregationTemporality": 2, "dataPoints": points },
    });
    let service = [text("service.name", "longhaul")];
    json!({ "resourceMetrics": [{
        "resource": { "attributes": service },
        "scopeMetrics": [{ "scope": scope, "metrics": [metric] }],
    }] })
}

fn point(counts: &Counts, kind: &Kind, buckets: &Buckets, began_ns: i64, now_ns: i64) -> Value {
    let (host, port) = &counts.server;
    let mut attributes = vec![
        text("http.request.method", &counts.method),
        text("server.address", host),
        number("server.port", (*port).into()),
        text("url.full", &counts.target),
        number("http.response.status_code", kind.status.into()),
    ];
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

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

fn number(key: &str, value: i64) -> Value {
    json!({ "key": key, "value": { "intValue": value.to_string() } })
}
