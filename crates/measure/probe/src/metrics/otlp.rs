//! OpenTelemetry metrics in the JSON encoding of OTLP/HTTP
//! (<https://opentelemetry.io/docs/specs/semconv/http/http-metrics/>). Unlike there, failures have
//! a separate metric.

use otlp::{Attribute, Resource, histogram, sum};
use serde_json::Value;

use super::{BOUNDS, Counts, Metrics};

/// The counts of some targets between two times, in ns since 1970, as the body of a request to
/// `/v1/metrics`.
pub fn otlp(targets: &[Metrics], began_ns: i64, now_ns: i64) -> Value {
    let counts: Vec<Counts> = targets.iter().map(|target| target.counts().clone()).collect();
    let points = counts.iter().flat_map(|counts| {
        counts.responses.iter().map(|(kind, buckets)| {
            let mut attributes = attributes(counts);
            attributes.push(Attribute::number("http.response.status_code", kind.status.into()));
            attributes
                .extend(kind.version.map(|version| Attribute::text("network.protocol.version", version)));
            (attributes, buckets.n(), buckets.sum_s(), buckets.counts())
        })
    });
    let requests = ("http.client.request.duration", "s", "Duration of HTTP client requests.");
    let requests = histogram(requests, (began_ns, now_ns), BOUNDS.as_slice(), points);
    let points = counts.iter().flat_map(|counts| {
        // With the start time of the sum, the first failure is an increase.
        counts.failures.iter().filter(|(_, n)| **n > 0).map(|(reason, n)| {
            let mut attributes = attributes(counts);
            attributes.push(Attribute::text("error.type", reason));
            (attributes, *n)
        })
    });
    let failures = ("probe.failures", "{request}", "HTTP requests that failed, by reason.");
    let failures = sum(failures, (began_ns, now_ns), points);
    let resource = Resource {
        attributes: vec![Attribute::text("service.name", "longhaul")],
        scope: "longhaul probe",
        version: env!("CARGO_PKG_VERSION"),
    };
    otlp::metrics(&resource, &[requests, failures])
}

fn attributes(counts: &Counts) -> Vec<Attribute> {
    let (host, port) = &counts.server;
    vec![
        Attribute::text("http.request.method", &counts.method),
        Attribute::text("server.address", host),
        Attribute::number("server.port", (*port).into()),
        Attribute::text("url.full", &counts.target),
    ]
}
