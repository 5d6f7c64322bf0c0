//! Tests of the metrics page: its families and labels, and the expressions of the dashboard.

use super::*;
use crate::admin::api::{
    ByCacheStatus, CertificateSource, Connections, HeardFrom, LinkStatus, LogStatus, OriginStatus,
    PoolMemberStatus, PoolStatus, PurgesStatus, RateLimitStatus, Requests, TraceStatus, Usage,
};
use crate::telemetry::{counters::CacheResult, traffic::RequestSeries};

fn dashboard_expressions() -> Vec<String> {
    fn collect(value: &serde_json::Value, found: &mut Vec<String>) {
        match value {
            serde_json::Value::Array(all) => all.iter().for_each(|value| collect(value, found)),
            serde_json::Value::Object(all) => {
                for (key, value) in all {
                    match value.as_str().filter(|_| key == "expr" || key == "definition") {
                        Some(text) => found.push(text.to_owned()),
                        None => collect(value, found),
                    }
                }
            }
            _ => {}
        }
    }
    let text = include_str!("../../../../../../docs/operation/longhaul-edge.json");
    let mut found = Vec::new();
    collect(&serde_json::from_str(text).unwrap(), &mut found);
    assert!(found.len() > 10, "{found:?}");
    found
}

#[test]
fn page_has_each_metric_with_its_labels() {
    let by_cache_status =
        ByCacheStatus { hit: 3, miss: 2, stale: 0, revalidated: 0, bypass: 0, collapsed: 1, refused: 0 };
    let status = Status {
        data_centre: "lhr".into(),
        epoch: 7,
        requests: Requests { total: 6, by_cache_status },
        connections: Connections { open: 8, refused: 1, limit_per_address: 4 },
        certificates: vec![
            CertificateStatus {
                names: vec!["a.example".into(), "b.example".into()],
                file: "/etc/a\"\\.pem".into(),
                source: CertificateSource::File,
                issuer: None,
                not_after_s: Some(1_800_000_000),
                expires_in_s: None,
                next_order_in_s: None,
                error: None,
            },
            CertificateStatus {
                names: vec!["c.example".into()],
                file: "c.pem".into(),
                source: CertificateSource::Acme,
                issuer: None,
                not_after_s: None,
                expires_in_s: None,
                next_order_in_s: None,
                error: None,
            },
        ],
        store: Usage {
            memory_bytes: 100,
            memory_limit_bytes: 1000,
            disk_bytes: Some(50),
            disk_error: Some("full".into()),
            disk_given_up: Some(3),
            objects: 2,
            evicted: 4,
        },
        log: Some(LogStatus { lost: 9, error: None }),
        traces: Some(TraceStatus { sent: 30, lost: 12, waiting: 0, error: None }),
        kv: Some(kv_server::Status {
            reads: 10,
            hits: 7,
            of_others: Some(kv_server::FromOthers { regional: 1, upper: 0, store: 2 }),
            writes: 4,
            lists: 0,
            refused: 0,
            expired: 0,
            keys: Some(3),
            bytes: Some(300),
            file_bytes: Some(4096),
            refused_stream: None,
            integrity: Some(kv_server::Integrity {
                damaged_blocks: 31,
                damaged_keys: 32,
                scrubs: 33,
                scrubbed_bytes: 34,
            }),
            memory_bytes: 0,
            disk: Some(kv_server::OnDisk { values: 21, bytes: 22_000, error: None }),
            pair: Some(kv_server::Pair {
                other: "nyc".into(),
                is_reachable: true,
                behind: 11,
                is_filling: false,
                given: 12,
                taken: 13,
                repaired: 14,
                compared: 1,
                differed: 15,
            }),
            network: Some(kv_server::InNetwork {
                store: "lhr".into(),
                refreshes: 5,
                unchanged: 23,
                stood_in: 0,
                passed_on: 0,
                asked_by_others: 0,
                heard: 0,
                to_tell: 8,
                told: 6,
                messages: 6,
                untold: 0,
                asked_both: 0,
            }),
            error: None,
        }),
        origins: vec![OriginStatus {
            address: "http://a:80".into(),
            healthy: true,
            reason: None,
            connections: 2,
            in_flight: 1,
            requests: 5,
            failures: 0,
            connect_ms: None,
        }],
        rate_limits: vec![RateLimitStatus { zone: "shop".into(), rate_limited: 61 }],
        pools: vec![PoolStatus {
            zone: "shop".into(),
            balance: "hash".into(),
            origins: vec![PoolMemberStatus {
                address: "http://a:80".into(),
                state: "ejected".into(),
                reason: Some("status 503".into()),
                weight: 0.5,
                in_flight: 3,
                max_connections: Some(9),
                requests: 41,
                ejections: 42,
                ejected_for_s: Some(7),
                checks: 50,
                check_failures: 43,
            }],
        }],
        requests_of_others: Some(Requests { total: 6, by_cache_status }),
        tiers: Vec::new(),
        links: vec![LinkStatus {
            to: "fra".into(),
            rtt_ms: Some(12.5),
            loss: Some(0.02),
            throughput_bps: Some(8_000_000),
            up: true,
            since_s: 60,
            error: None,
            requests: 8,
            failures: 1,
        }],
        routes: Vec::new(),
        purges: Some(PurgesStatus {
            log: "1f".into(),
            position: Vec::new(),
            data_centres: vec![HeardFrom {
                data_centre: "fra".into(),
                behind: Some(3),
                ahead: Some(0),
                heard_s: Some(1),
            }],
            remembered: 3,
            cut_off: true,
            bus: Some(BusStatus {
                stream: "nats://n1:4222/S".into(),
                error: Some("gone".into()),
                waiting: 5,
                put: 2,
                taken: 4,
                resets: 6,
                unread: 1,
                namesake: None,
            }),
        }),
    };
    let traffic = TrafficMetrics::new(1);
    let series = |zone: &str| {
        let (zone, status) = (traffic.number(zone), http_stack::StatusCode::NOT_FOUND);
        RequestSeries::new(zone, &http_stack::Method::GET, status, CacheResult::Hit)
    };
    traffic.record(0, series("z"), 2_000_000);
    traffic.record(0, series("\"\\"), 0);
    traffic.add_body_bytes(0, traffic.number("z"), 12);
    traffic.record_origin("z", &"http://a".parse().unwrap(), 700_000_000);
    let page = prometheus(&status, &traffic, &TlsHandshakes::default());
    for line in [
        "# TYPE longhaul_edge_requests_total counter",
        "longhaul_edge_zone_requests_total{data_centre=\"lhr\",zone=\"z\",method=\"GET\",status=\"4xx\",cache=\"hit\"} 1",
        "longhaul_edge_zone_requests_total{data_centre=\"lhr\",zone=\"\\\"\\\\\",method=\"GET\",status=\"4xx\",cache=\"hit\"} 1",
        "longhaul_edge_zone_response_body_bytes_total{data_centre=\"lhr\",zone=\"z\"} 12",
        "# TYPE longhaul_edge_zone_response_duration_seconds histogram",
        "longhaul_edge_zone_response_duration_seconds_bucket{data_centre=\"lhr\",zone=\"z\",cache=\"hit\",le=\"0.001\"} 0",
        "longhaul_edge_zone_response_duration_seconds_bucket{data_centre=\"lhr\",zone=\"z\",cache=\"hit\",le=\"0.0025\"} 1",
        "longhaul_edge_zone_response_duration_seconds_bucket{data_centre=\"lhr\",zone=\"z\",cache=\"hit\",le=\"+Inf\"} 1",
        "longhaul_edge_zone_response_duration_seconds_sum{data_centre=\"lhr\",zone=\"z\",cache=\"hit\"} 0.002",
        "longhaul_edge_zone_response_duration_seconds_count{data_centre=\"lhr\",zone=\"z\",cache=\"hit\"} 1",
        "longhaul_edge_zone_origin_duration_seconds_sum{data_centre=\"lhr\",zone=\"z\",origin=\"http://a\"} 0.7",
        "longhaul_edge_tls_handshakes_total{data_centre=\"lhr\",result=\"ok\",version=\"1.3\"} 0",
        "longhaul_edge_tls_handshakes_total{data_centre=\"lhr\",result=\"failed\",version=\"\"} 0",
        "longhaul_edge_requests_total{data_centre=\"lhr\",cache=\"hit\"} 3",
        "longhaul_edge_connections{data_centre=\"lhr\"} 8",
        "longhaul_edge_connections_refused_total{data_centre=\"lhr\"} 1",
        "longhaul_edge_certificate_not_after_timestamp_seconds{data_centre=\"lhr\",name=\"a.example\",file=\"/etc/a\\\"\\\\.pem\"} 1800000000",
        "longhaul_edge_certificate_working{data_centre=\"lhr\",name=\"a.example\",file=\"/etc/a\\\"\\\\.pem\"} 1",
        "longhaul_edge_certificate_working{data_centre=\"lhr\",name=\"c.example\",file=\"c.pem\"} 0",
        "longhaul_edge_store_bytes{data_centre=\"lhr\",tier=\"disk\"} 50",
        "longhaul_edge_disk_working{data_centre=\"lhr\"} 0",
        "longhaul_edge_disk_given_up_total{data_centre=\"lhr\"} 3",
        "longhaul_edge_store_evicted_total{data_centre=\"lhr\"} 4",
        "longhaul_edge_log_lost_total{data_centre=\"lhr\"} 9",
        "longhaul_edge_log_working{data_centre=\"lhr\"} 1",
        "longhaul_edge_spans_total{data_centre=\"lhr\",fate=\"lost\"} 12",
        "longhaul_edge_traces_working{data_centre=\"lhr\"} 1",
        "longhaul_edge_purge_epoch{data_centre=\"lhr\"} 7",
        "longhaul_edge_origin_healthy{data_centre=\"lhr\",origin=\"http://a:80\"} 1",
        "longhaul_edge_origin_requests_total{data_centre=\"lhr\",origin=\"http://a:80\"} 5",
        "longhaul_edge_data_centre_requests_total{data_centre=\"lhr\",cache=\"miss\"} 2",
        "longhaul_edge_link_up{data_centre=\"lhr\",to=\"fra\"} 1",
        "longhaul_edge_link_rtt_seconds{data_centre=\"lhr\",to=\"fra\"} 0.0125",
        "longhaul_edge_link_loss{data_centre=\"lhr\",to=\"fra\"} 0.02",
        "longhaul_edge_link_throughput_bits_per_second{data_centre=\"lhr\",to=\"fra\"} 8000000",
        "longhaul_edge_link_failures_total{data_centre=\"lhr\",to=\"fra\"} 1",
        "longhaul_edge_purges_cut_off{data_centre=\"lhr\"} 1",
        "longhaul_edge_purges_behind{data_centre=\"lhr\",to=\"fra\"} 3",
        "longhaul_edge_bus_working{data_centre=\"lhr\"} 0",
        "longhaul_edge_bus_waiting{data_centre=\"lhr\"} 5",
        "longhaul_edge_bus_put_total{data_centre=\"lhr\"} 2",
        "longhaul_edge_bus_taken_total{data_centre=\"lhr\"} 4",
        "longhaul_edge_bus_resets_total{data_centre=\"lhr\"} 6",
        "longhaul_edge_bus_namesake{data_centre=\"lhr\"} 0",
        "longhaul_edge_routes_failing{data_centre=\"lhr\",reason=\"connection_terminated\"} 0",
        "longhaul_edge_kv_reads_total{data_centre=\"lhr\",source=\"lower\"} 7",
        "longhaul_edge_kv_reads_total{data_centre=\"lhr\",source=\"store\"} 2",
        "longhaul_edge_kv_reads_total{data_centre=\"lhr\",source=\"regional\"} 1",
        "longhaul_edge_kv_to_tell_total{data_centre=\"lhr\"} 8",
        "longhaul_edge_kv_keys{data_centre=\"lhr\"} 3",
        "longhaul_edge_kv_other_reachable{data_centre=\"lhr\",other=\"nyc\"} 1",
        "longhaul_edge_kv_other_behind{data_centre=\"lhr\",other=\"nyc\"} 11",
        "longhaul_edge_kv_repaired_total{data_centre=\"lhr\",other=\"nyc\"} 14",
        "longhaul_edge_kv_working{data_centre=\"lhr\"} 1",
        "longhaul_edge_kv_disk_values{data_centre=\"lhr\"} 21",
        "longhaul_edge_kv_disk_working{data_centre=\"lhr\"} 1",
        "longhaul_edge_kv_unchanged_total{data_centre=\"lhr\"} 23",
        "longhaul_edge_rate_limited_total{data_centre=\"lhr\",zone=\"shop\"} 61",
        "longhaul_edge_zone_origin_up{data_centre=\"lhr\",zone=\"shop\",origin=\"http://a:80\"} 0",
        "longhaul_edge_zone_origin_weight{data_centre=\"lhr\",zone=\"shop\",origin=\"http://a:80\"} 0.5",
        "longhaul_edge_zone_origin_ejections_total{data_centre=\"lhr\",zone=\"shop\",origin=\"http://a:80\"} 42",
    ] {
        assert!(page.lines().any(|one| one == line), "{line}: {page}");
    }
    let names: Vec<_> = page.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect();
    assert_eq!(names.len(), 86, "{page}");
    let names: Vec<_> = names.iter().filter_map(|line| line.split(' ').next()).collect();
    for expression in dashboard_expressions() {
        let words = expression.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let metrics: Vec<_> = words.filter(|word| word.starts_with(PREFIX)).collect();
        assert!(!metrics.is_empty(), "{expression}");
        for metric in metrics {
            let parts = ["_bucket", "_sum", "_count"].iter().filter_map(|part| metric.strip_suffix(part));
            let is_known = parts.chain([metric]).any(|name| names.contains(&name));
            assert!(is_known, "{metric} of the dashboard is not exposed: {expression}");
        }
    }
}
