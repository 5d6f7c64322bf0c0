//! Hits of `vegeta encode`, and what must be refused.

use proptest::prelude::*;

use crate::{
    Metric,
    read::{
        Format,
        json::testing::{damaged, one, read, refused_by_sink},
    },
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

/// The columns of `NewCSVEncoder` in vegeta's `lib/results.go`.
const CSV: &str = "1741944413589000001,200,23456789,0,5,,aGVsbG8=,edge,0,GET,https://a.example/x,Q29udGVudC1UeXBlOiB0ZXh0DQo=\n\
                   1741944413600000000,503,1000,0,0,503 Service Unavailable,,edge,1,GET,https://a.example/y,\n\
                   1741944413700000000,0,30000000000,0,0,\"Get \"\"https://a.example/\"\": timeout,\nand more\",,edge,2,GET,https://a.example/,\n";

#[test]
fn rows_with_bodies() {
    let kept = read(CSV).unwrap();
    assert_eq!((kept.format, kept.numbers.as_slice()), (Some(Format::VegetaCsv), &[1, 2, 3][..]));
    let hit = &kept.samples[0];
    assert_eq!((hit.started_ns, hit.get(Metric::Total)), (Some(1_741_944_413_589_000_001), Some(23_456_789)));
    assert_eq!((hit.status, hit.body_bytes, &hit.error), (Some(200), Some(5), &None));
    for (name, value) in
        [("url", "https://a.example/x"), ("host", "a.example"), ("method", "GET"), ("attack", "edge")]
    {
        assert_eq!(hit.label(name).as_deref(), Some(value), "{name}");
    }
    assert_eq!((kept.samples[1].status, &kept.samples[1].error), (Some(503), &None));
    assert_eq!(kept.samples[2].error.as_deref(), Some("Get \"https://a.example/\": timeout,\nand more"));
    let large = CSV.replace("aGVsbG8=", &"QUJD".repeat(1 << 19));
    assert_eq!(read(large).unwrap().samples, kept.samples);
    let old = "1741944413589000001,200,23456789,0,5,,aGVsbG8=,edge,0\n";
    let kept = read(old.repeat(2)).unwrap();
    assert_eq!((kept.samples.len(), kept.samples[0].label("url")), (2, None));
}

#[test]
fn broken_rows() {
    let refused = |row: &str| read(format!("{CSV}{row}\n")).unwrap_err();
    assert!(refused("1,2,3").starts_with("x:5:5: found 3 columns; expected 12, as in the first row"));
    assert_eq!(
        refused("1741944413700000000,ok,1,0,0,,,,2,GET,http://a/,"),
        "x:5:21: found \"ok\"; expected an HTTP status, or 0"
    );
    assert!(
        refused("1741944413700000000,200,-5,0,0,,,,2,GET,http://a/,").starts_with("x:5:25: found \"-5\"")
    );
    let kept = read(&CSV[..CSV.len() - 30]).unwrap();
    assert_eq!(kept.samples.len(), 2);
    assert_eq!(kept.warnings, ["Line 3, the last, is cut off in mid-write; read up to the line before it."]);
}

proptest! {
    #[test]
    fn garbled_rows_never_panic(bytes in damaged(CSV)) {
        drop(read(bytes));
    }
}

proptest! {
    #[test]
    fn garbage_never_panics(bytes in damaged(HITS)) {
        drop(read(bytes));
    }
}
