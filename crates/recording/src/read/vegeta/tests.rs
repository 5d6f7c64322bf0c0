//! Hits as `vegeta encode` writes them, and everything that must be refused.

use proptest::prelude::*;

use crate::{
    Metric,
    read::json::testing::{damaged, one, read, refused_by_sink},
};

const HITS: &str = r#"{"attack":"edge","seq":0,"code":200,"timestamp":"2025-03-14T10:26:53.589000001+01:00","latency":23456789,"bytes_out":0,"bytes_in":5,"error":"","body":"aGVsbG8=","method":"GET","url":"https://a.example/x","headers":{"Content-Type":["text/plain"]}}
{"attack":"edge","seq":1,"code":503,"timestamp":"2025-03-14T09:26:53.6Z","latency":1000,"bytes_out":0,"bytes_in":0,"error":"503 Service Unavailable","body":null,"method":"GET","url":"https://a.example/y","headers":{}}
{"attack":"edge","seq":2,"code":0,"timestamp":"2025-03-14T09:26:53.7Z","latency":30000000000,"bytes_out":0,"bytes_in":0,"error":"Get \"https://a.example/\": context deadline exceeded","body":null,"method":"GET","url":"https://a.example/","headers":null}
"#;

#[test]
fn hits() {
    let samples = read(HITS).unwrap().samples;
    let hit = &samples[0];
    // 1741944413 is 2025-03-14T09:26:53Z.
    assert_eq!(hit.started_ns, Some(1_741_944_413_589_000_001));
    assert_eq!((hit.get(Metric::Latency), hit.get(Metric::Total)), (Some(23_456_789), Some(23_456_789)));
    assert_eq!((hit.status, hit.body_bytes), (Some(200), Some(5)));
    for (name, value) in
        [("url", "https://a.example/x"), ("host", "a.example"), ("method", "GET"), ("attack", "edge")]
    {
        assert_eq!(hit.label(name).as_deref(), Some(value), "{name}");
    }
    // An answer, if not a welcome one.
    assert_eq!((samples[1].status, &samples[1].error), (Some(503), &None));
    assert_eq!(samples[2].error.as_deref(), Some("Get \"https://a.example/\": context deadline exceeded"));
    assert_eq!((samples[2].status, samples[2].get(Metric::Latency)), (None, None));
}

#[test]
fn missing_fields_are_not_measured() {
    let bare = one("{\"code\":200,\"timestamp\":null,\"latency\":null}");
    assert_eq!((bare.started_ns, bare.latency_ns, bare.error), (None, None, None));
    assert_eq!(one("{\"code\":0,\"timestamp\":null,\"latency\":1}").error.as_deref(), Some("no response"));
}

#[test]
fn a_large_body_is_passed_over() {
    let body = "a".repeat(3 << 20);
    let kept = read(HITS.replace("aGVsbG8=", &body)).unwrap();
    assert_eq!(kept.samples.len(), 3);
}

#[test]
fn what_is_broken_is_named() {
    let hit = HITS.lines().next().unwrap();
    assert_eq!(
        read(hit.replace("23456789", "-7")).unwrap_err(),
        "x:1:99: invalid value: integer `-7`, expected u64; expected what vegeta encode --to json writes, one object \
         a hit"
    );
    assert!(read(hit.replace("2025-", "25-")).unwrap_err().contains("expected a time after 1970"));
    assert!(read(hit.replace(":200", ":\"200\"")).unwrap_err().contains("expected u16"));
    let kept = read(&HITS[..HITS.len() - 9]).unwrap();
    assert_eq!(kept.samples.len(), 2);
    assert_eq!(kept.warnings, ["Line 3, the last, is cut off in mid-write; read up to the line before it."]);
    assert_eq!(refused_by_sink(HITS), "cannot write line 2 of the recording");
}

proptest! {
    #[test]
    fn garbage_never_panics(bytes in damaged(HITS)) {
        drop(read(bytes));
    }
}
