//! Both formats of a handful of requests.

use std::collections::BTreeMap;

use super::*;

fn metrics() -> Metrics {
    let metrics = Metrics::of(&"https://shop.example:8443/a?b=c".parse().unwrap());
    let answered = |ms: u64, status| Sample {
        intended_ns: Some(0),
        started_ns: Some(1_000_000),
        connect_ns: Some(500_000),
        wait_ns: Some(ms * 1_000_000),
        last_byte_ns: Some((ms + 1) * 1_000_000),
        status: Some(status),
        labels: BTreeMap::from([("protocol".to_owned(), "h2".to_owned())]),
        ..Sample::default()
    };
    metrics.add(&answered(2, 200));
    metrics.add(&answered(100_000, 503));
    metrics.add(&Sample { error: Some("timeout".to_owned()), ..Sample::default() });
    metrics
}

#[test]
fn prometheus_reads_it() {
    let page = prometheus(&[metrics()]);
    let target = r#"target="https://shop.example:8443/a?b=c""#;
    for line in [
        format!("probe_success{{{target}}} 0"),
        format!("probe_requests_total{{{target}}} 3"),
        format!("probe_failures_total{{{target},reason=\"timeout\"}} 1"),
        format!("probe_failures_total{{{target},reason=\"connection refused\"}} 0"),
        format!("probe_responses_total{{{target},status=\"503\",version=\"2\"}} 1"),
        // 2 ms are above 2^-9 and below 2^-8.5 s; 100 s are beyond the last bound.
        format!("probe_http_duration_seconds_bucket{{{target},phase=\"processing\",le=\"0.001953125\"}} 0"),
        format!(
            "probe_http_duration_seconds_bucket{{{target},phase=\"processing\",le=\"0.0027621358640099515\"}} 1"
        ),
        format!("probe_http_duration_seconds_bucket{{{target},phase=\"processing\",le=\"64\"}} 1"),
        format!("probe_http_duration_seconds_bucket{{{target},phase=\"processing\",le=\"+Inf\"}} 2"),
        format!("probe_http_duration_seconds_count{{{target},phase=\"processing\"}} 2"),
        format!("probe_duration_seconds_sum{{{target}}} 100.004"),
        format!("probe_lateness_seconds_count{{{target}}} 2"),
    ] {
        assert!(page.lines().any(|written| written == line), "{line}\nis not in\n{page}");
    }
    assert!(!page.contains("phase=\"tls\""), "what did not happen is absent, not 0");
    assert_eq!(page.matches("# TYPE probe_http_duration_seconds histogram").count(), 1);
}

#[test]
fn a_collector_takes_it() {
    let value = otlp(&[metrics()], 5, 7);
    let metric = &value["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][0];
    assert_eq!((&metric["name"], &metric["unit"]), (&"http.client.request.duration".into(), &"s".into()));
    let points = metric["histogram"]["dataPoints"].as_array().unwrap();
    assert_eq!(points.len(), 2, "a failure has no duration");
    let point = &points[1];
    assert_eq!((&point["count"], &point["sum"]), (&"1".into(), &100.001.into()));
    assert_eq!((&point["startTimeUnixNano"], &point["timeUnixNano"]), (&"5".into(), &"7".into()));
    let counts = point["bucketCounts"].as_array().unwrap();
    assert_eq!((counts.len(), &counts[41]), (42, &"1".into()));
    assert_eq!(point["explicitBounds"].as_array().unwrap().len(), 41);
    let attributes = point["attributes"].to_string();
    for part in
        ["\"server.address\"", "\"shop.example\"", "\"8443\"", "\"503\"", "\"network.protocol.version\""]
    {
        assert!(attributes.contains(part), "{part} is not in {attributes}");
    }
    let failed = &value["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][1];
    assert_eq!((&failed["name"], &failed["sum"]["isMonotonic"]), (&"probe.failures".into(), &true.into()));
    let points = failed["sum"]["dataPoints"].as_array().unwrap();
    assert_eq!((points.len(), &points[0]["asInt"]), (1, &"1".into()));
    let attributes = points[0]["attributes"].to_string();
    assert!(attributes.contains("\"error.type\"") && attributes.contains("\"timeout\""), "{attributes}");
}
