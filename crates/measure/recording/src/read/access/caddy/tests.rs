//! Caddy's default log, its possible configurations, and what must be refused.

use proptest::prelude::*;

use crate::{
    Options, Unit,
    read::{
        access::log::SERVERS_OWN,
        json::testing::{Kept, damaged, one, read, read_with, refused_by_sink},
    },
};

const LOG: &str = r#"{"level":"info","ts":1741944413.0001,"logger":"tls","msg":"storage cleaning","duration":"often","status":[],"request":"none"}
{"level":"info","ts":1741944413.5,"logger":"http.log.access.log1","msg":"handled request","request":{"remote_ip":"192.0.2.7","remote_port":"37070","client_ip":"198.51.100.9","proto":"HTTP/2.0","method":"GET","host":"a.example","uri":"/x?y=1","headers":{"User-Agent":["curl/8"]},"tls":{"resumed":false,"version":772,"cipher_suite":4865,"proto":"h2","server_name":"a.example"}},"bytes_read":0,"user_id":"","duration":0.00020782,"size":12,"status":404,"resp_headers":{"Server":["Caddy"]}}
{"level":"error","ts":1741944413.6,"logger":"http.log.error","msg":"dial tcp: refused","request":{"method":"GET"},"duration":0.1,"status":502}
{"level":"error","ts":1741944413.7,"logger":"http.log.access","msg":"handled request","request":{"method":"GET","host":"b.example","uri":"/","proto":"HTTP/1.1"},"duration":0.25,"size":0,"status":0}
"#;

fn line(fields: &str) -> String {
    format!("{{\"logger\":\"http.log.access\",\"request\":{{}},\"status\":200,{fields}}}\n")
}

#[test]
fn the_log() {
    let Kept { samples, warnings, numbers, .. } = read(LOG).unwrap();
    assert_eq!(numbers, [2, 4]);
    assert_eq!(warnings, [SERVERS_OWN, "2 lines without a request left out.",]);
    let sample = &samples[0];
    assert_eq!((sample.latency_ns, sample.last_byte_ns), (Some(207_820), None));
    // The line was written at the end: 0.5 s - 207.82 us.
    assert_eq!(sample.started_ns, Some(1_741_944_413_499_792_180));
    assert_eq!((sample.status, sample.body_bytes, &sample.error), (Some(404), Some(12), &None));
    for (name, value) in [
        ("host", "a.example"),
        ("method", "GET"),
        ("uri", "/x?y=1"),
        ("protocol", "HTTP/2.0"),
        ("remote_ip", "192.0.2.7"),
        ("client_ip", "198.51.100.9"),
    ] {
        assert_eq!(sample.label(name).as_deref(), Some(value), "{name}");
    }
    assert_eq!((samples[1].error.as_deref(), samples[1].label("remote_ip")), (Some("no response"), None));
}

#[test]
fn times_in_every_format() {
    let started = |ts: &str| one(line(&format!("\"ts\":{ts},\"duration\":0.5"))).started_ns;
    let expected = Some(1_741_944_412_500_000_000);
    for ts in [
        "1741944413",
        "1741944413.0",
        "1741944413000.0",
        "1741944413000",
        "1741944413000000000",
        "\"2025-03-14T09:26:53Z\"",
        "\"2025-03-14T10:26:53.000+0100\"",
        "\"2025-03-14T10:26:53+01:00\"",
    ] {
        assert_eq!(started(ts), expected, "{ts}");
    }
    for ts in ["\"2025/03/14 09:26:53\"", "\"\"", "\"\u{e4}\"", "0.25", "null"] {
        assert_eq!(started(ts), None, "{ts}");
    }
}

#[test]
fn durations_in_every_format() {
    let latency = |duration: &str| one(line(&format!("\"ts\":1,\"duration\":{duration}"))).latency_ns;
    assert_eq!(latency("\"1.2ms\""), Some(1_200_000));
    assert_eq!(
        (latency("0"), latency("3.0"), latency("2.5e-3")),
        (Some(0), Some(3_000_000_000), Some(2_500_000))
    );
    assert_eq!(latency("null"), None);
    let in_ns = Options { unit: Some(Unit::Ns), ..Options::default() };
    let kept = read_with(line("\"ts\":1,\"duration\":1234567"), &in_ns).unwrap();
    assert_eq!(kept.samples[0].latency_ns, Some(1_234_567));
}

/// `duration_format ms` and seconds without a fraction look alike.
#[test]
fn whole_durations_need_a_unit_or_a_proof() {
    let durations = |durations: &[&str]| -> String {
        durations
            .iter()
            .map(|duration| line(&format!("\"ts\":1741944413.5,\"duration\":{duration}")))
            .collect()
    };
    let milliseconds = durations(&["12", "40", "0"]);
    let said = read(&milliseconds).unwrap_err();
    assert!(
        said.starts_with("x:1:84: found 12; expected a fraction of seconds somewhere in the file"),
        "{said}"
    );
    assert!(said.contains("--unit ms"), "{said}");
    let with = |unit| {
        let kept = read_with(&milliseconds, &Options { unit: Some(unit), ..Options::default() }).unwrap();
        assert_eq!(kept.warnings.len(), 1, "{:?}", kept.warnings);
        kept.samples[0].latency_ns
    };
    assert_eq!(
        (with(Unit::Ms), with(Unit::S), with(Unit::Ns)),
        (Some(12_000_000), Some(12_000_000_000), Some(12))
    );
    for all in [["0.5", "12"], ["12", "0.5"]] {
        let kept = read(durations(&all)).unwrap();
        let mut latencies: Vec<_> = kept.samples.iter().filter_map(|sample| sample.latency_ns).collect();
        latencies.sort_unstable();
        assert_eq!(latencies, [500_000_000, 12_000_000_000]);
        assert!(kept.warnings[0].starts_with("1 duration is whole"), "{:?}", kept.warnings);
    }
    assert_eq!(read(durations(&["\"12ms\"", "0"])).unwrap().samples.len(), 2);
}

#[test]
fn a_log_without_the_loggers_name() {
    let text = line("\"ts\":1,\"duration\":0.5").replace("\"logger\":\"http.log.access\",", "");
    assert_eq!(read(&text).unwrap().samples.len(), 1);
    let kept = read(format!("{text}{{\"msg\":\"server running\"}}\n")).unwrap();
    assert_eq!(kept.warnings[1], "1 line without a request left out.");
}

#[test]
fn what_is_broken_is_named() {
    assert_eq!(
        read(line("\"ts\":1,\"duration\":1234567")).unwrap_err(),
        "x:1:73: found 1234567; expected a fraction of seconds somewhere in the file, which proves the unit; without one \
         give the unit: --unit s, --unit ms, --unit us or --unit ns"
    );
    assert_eq!(
        read(line("\"ts\":1,\"duration\":-0.5")).unwrap_err(),
        "x:1:73: found -0.5; expected a duration, in seconds or such as \"1.2ms\""
    );
    assert!(read(line("\"ts\":1,\"duration\":\"soon\"")).unwrap_err().contains("found \"soon\""));
    assert!(read(line("\"ts\":1,\"duration\":[]")).unwrap_err().contains("a number or text"));
    assert!(
        read(line("\"ts\":1,\"duration\":0.1").replace("200", "\"200\""))
            .unwrap_err()
            .contains("expected i64")
    );
    let kept = read(&LOG[..LOG.len() - 9]).unwrap();
    assert_eq!((kept.samples.len(), kept.warnings.len()), (1, 3));
    assert_eq!(refused_by_sink(LOG), "cannot write line 2 of the recording");
}

#[test]
fn lines_that_are_no_objects_are_left_out_and_counted() {
    let kept = read(format!("{LOG}oops\n\0\0\n{LOG}")).unwrap();
    assert_eq!(kept.numbers, [2, 4, 8, 10]);
    assert_eq!(
        kept.warnings[0],
        "2 lines are left out; the first is line 5, column 1: found no line of a request (expected value); expected one JSON \
         object, as Caddy writes it."
    );
    let kept = read(&LOG[40..]).unwrap();
    assert_eq!(kept.numbers, [2, 4]);
    assert!(kept.warnings[0].starts_with("1 line is left out; it is line 1"), "{:?}", kept.warnings);
}

proptest! {
    #[test]
    fn garbage_never_panics(bytes in damaged(LOG)) {
        drop(read(bytes));
    }
}
