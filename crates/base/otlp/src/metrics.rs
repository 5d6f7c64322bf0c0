//! Metrics: cumulative sums and histograms.

use serde_json::{Value, json};

use crate::attribute::{Attribute, Resource, all};

/// The body of a request to `/v1/metrics`, with metrics of [`sum`] and [`histogram`].
pub fn metrics(resource: &Resource, metrics: &[Value]) -> Value {
    json!({ "resourceMetrics": [{
        "resource": resource.resource(),
        "scopeMetrics": [{ "scope": resource.scope(), "metrics": metrics }],
    }] })
}

/// A monotonic sum, with a point for each set of attributes. Times are in nanoseconds since 1970.
pub fn sum(
    (name, unit, description): (&str, &str, &str),
    (began_ns, now_ns): (i64, i64),
    points: impl IntoIterator<Item = (Vec<Attribute>, u64)>,
) -> Value {
    let point = |(attributes, n): (Vec<Attribute>, u64)| {
        json!({
            "attributes": all(&attributes),
            "startTimeUnixNano": began_ns.to_string(),
            "timeUnixNano": now_ns.to_string(),
            "asInt": n.to_string(),
        })
    };
    let points: Vec<_> = points.into_iter().map(point).collect();
    json!({
        "name": name,
        "unit": unit,
        "description": description,
        "sum": { "aggregationTemporality": CUMULATIVE, "isMonotonic": true, "dataPoints": points },
    })
}

/// A histogram of durations, with a point for each set of attributes. The last bucket is above all
/// bounds. Times are in nanoseconds since 1970.
pub fn histogram<'p>(
    (name, unit, description): (&str, &str, &str),
    (began_ns, now_ns): (i64, i64),
    bounds: &[f64],
    points: impl IntoIterator<Item = (Vec<Attribute>, u64, f64, &'p [u64])>,
) -> Value {
    let point = |(attributes, n, sum, counts): (Vec<Attribute>, u64, f64, &[u64])| {
        let counts: Vec<_> = counts.iter().map(u64::to_string).collect();
        json!({
            "attributes": all(&attributes),
            "startTimeUnixNano": began_ns.to_string(),
            "timeUnixNano": now_ns.to_string(),
            "count": n.to_string(),
            "sum": sum,
            "bucketCounts": counts,
            "explicitBounds": bounds,
        })
    };
    let points: Vec<_> = points.into_iter().map(point).collect();
    json!({
        "name": name,
        "unit": unit,
        "description": description,
        "histogram": { "aggregationTemporality": CUMULATIVE, "dataPoints": points },
    })
}

/// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
const CUMULATIVE: u8 = 2;
