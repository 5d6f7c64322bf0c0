//! HAR of Chrome, Firefox and others, and what must be refused.

use proptest::prelude::*;

use crate::{
    Metric,
    read::json::testing::{Kept, damaged, one, phases, read, refused_by_sink},
};

/// `ssl` inside of `connect`, `_` fields, a body.
const CHROME: &str = r#"{
  "log": {
    "version": "1.2",
    "creator": {"name": "WebInspector", "version": "537.36"},
    "pages": [
      {"startedDateTime": "2025-03-14T09:26:53.000Z", "id": "page_7", "title": "https://a.example/",
       "pageTimings": {"onContentLoad": 300.5, "onLoad": 412.25}},
      {"startedDateTime": "2025-03-14T09:27:53.000Z", "id": "page_2", "title": "b", "pageTimings": {}}
    ],
    "entries": [
      {
        "_connectionId": "31", "_initiator": {"type": "other"}, "_priority": "VeryHigh",
        "_resourceType": "document", "cache": {}, "connection": "443", "pageref": "page_2",
        "request": {"method": "GET", "url": "https://a.example:8443/x?y=1", "httpVersion": "h2",
                    "headers": [{"name": "accept", "value": "*/*"}], "cookies": [], "bodySize": 0},
        "response": {"status": 200, "statusText": "", "httpVersion": "h2", "headers": [],
                     "content": {"size": 9, "mimeType": "text/html; charset=utf-8", "text": "{\"log\":[}"},
                     "redirectURL": "", "headersSize": -1, "bodySize": 5120, "_transferSize": 5200, "_error": null},
        "serverIPAddress": "192.0.2.7",
        "startedDateTime": "2025-03-14T10:26:53.589+01:00",
        "time": 131.75,
        "timings": {"blocked": 1.5, "dns": 10, "ssl": 40.25, "connect": 60.5, "send": 0.25, "wait": 50,
                    "receive": 9.5, "_blocked_queueing": 0.5}
      },
      {
        "_fromCache": "disk", "_resourceType": "image", "pageref": "page_7",
        "request": {"method": "GET", "url": "https://a.example/i.png", "httpVersion": "http/2.0"},
        "response": {"status": 200, "content": {"size": 9, "mimeType": "image/png"}, "bodySize": 0, "_error": null},
        "startedDateTime": "2025-03-14T09:26:54Z", "time": 2.5,
        "timings": {"blocked": 1, "dns": -1, "ssl": -1, "connect": -1, "send": 0, "wait": 1, "receive": 0.5}
      },
      {
        "pageref": "page_7",
        "request": {"method": "GET", "url": "https://gone.example/"},
        "response": {"status": 0, "bodySize": -1, "_error": "net::ERR_NAME_NOT_RESOLVED"},
        "startedDateTime": "2025-03-14T09:26:55Z", "time": 9,
        "timings": {"blocked": 9, "dns": -1, "ssl": -1, "connect": -1, "send": 0, "wait": 0, "receive": 0}
      }
    ]
  }
}
"#;

fn entry(fields: &str) -> String {
    format!("{{\"log\":{{\"entries\":[{{{fields}}}]}}}}")
}

fn timed(time: &str, timings: &str) -> String {
    entry(&format!("\"response\":{{\"status\":200}},\"time\":{time},\"timings\":{{{timings}}}"))
}

/// An entry with another number below 0 is left out and named.
#[test]
fn only_minus_one_is_absent() {
    let parts = ["dns", "connect", "ssl", "send", "wait", "receive"];
    for part in parts {
        for absent in ["-1", "-1.0", "null"] {
            assert!(read(timed("50", &format!("\"{part}\":{absent}"))).is_ok(), "{part}: {absent}");
        }
        for wrong in ["-2", "-0.001", "-1e3", "1e16"] {
            let said = read(timed("50", &format!("\"{part}\":{wrong}"))).unwrap_err();
            assert!(said.starts_with("x:1:1: no entry that can be read: entry 1 has the "), "{said}");
            assert!(said.contains(&format!("{part} ")), "{said}");
            assert!(said.contains("milliseconds from 0 to 1e15, or -1 for what did not happen"), "{said}");
        }
    }
    assert!(read(timed("-1", "\"wait\":30")).is_ok());
    assert!(read(timed("-3", "\"wait\":30")).unwrap_err().contains("the time -3,"));
    let blocked = read(timed("50", "\"blocked\":-0.197,\"wait\":30")).unwrap();
    assert_eq!(blocked.samples[0].last_byte_ns, Some(50_000_000));
    assert!(
        blocked.warnings[0].starts_with("1 entry has a time in the browser's queue below 0"),
        "{blocked:?}"
    );
}

#[test]
fn a_response_of_playwright_that_broke_off_failed() {
    let entry = |failure: &str| {
        format!(
            "{{\"log\":{{\"creator\":{{\"name\":\"Playwright\"}},\"entries\":[{{\"startedDateTime\":\"2025-03-14T09:26:53Z\",\
             \"response\":{{\"status\":200{failure}}},\"timings\":{{\"send\":0,\"wait\":12,\"receive\":-1}}}}]}}}}"
        )
    };
    assert_eq!(
        one(entry(",\"_failureText\":\"net::ERR_ABORTED\"")).error.as_deref(),
        Some("net::ERR_ABORTED")
    );
    assert_eq!(one(entry("")).error, None);
}

/// connectEnd less a start of TLS that is -1: a millisecond more than there was.
#[test]
fn there_is_no_tls_in_clear_text() {
    let timings = "\"dns\":0.5,\"connect\":13,\"ssl\":14.5,\"send\":0,\"wait\":5,\"receive\":2";
    let entry = |url: &str| {
        one(format!(
            "{{\"log\":{{\"creator\":{{\"name\":\"Playwright\"}},\"entries\":[{{\"startedDateTime\":\"2025-03-14T09:26:53Z\",\"time\":35,\
             \"request\":{{\"url\":\"{url}\"}},\"response\":{{\"status\":200}},\"timings\":{{{timings}}}}}]}}}}"
        ))
    };
    let clear = entry("http://a.example/");
    assert_eq!(
        (clear.connect_ns, clear.tls_ns, clear.last_byte_ns),
        (Some(13_000_000), None, Some(20_500_000))
    );
    assert_eq!(entry("https://a.example/").tls_ns, Some(14_500_000));
}

#[test]
fn one_wrong_entry_does_not_hide_the_others() {
    let entry = |started: &str, wait: &str| {
        format!(
            "{{\"startedDateTime\":\"{started}\",\"response\":{{\"status\":200}},\"timings\":{{\"wait\":{wait}}}}}"
        )
    };
    let entries = [
        entry("2025-03-14T09:26:53.589Z", "1"),
        entry("2025-03-14T10:26:54.589+0100", "2"),
        entry("2025-03-14T09:26:55.589", "3"),
        entry("2025-03-14T09:26:56.589Z", "-7"),
        entry("yesterday", "5"),
    ];
    let kept = read(format!("{{\"x\":1,\"log\":{{\"creator\":{{}},\"entries\":[{}]}}}}", entries.join(",")))
        .unwrap();
    let started: Vec<_> =
        kept.samples.iter().map(|sample| sample.started_ns.unwrap() / 1_000_000_000).collect();
    assert_eq!(started, [1_741_944_413, 1_741_944_414, 1_741_944_415]);
    assert!(
        kept.warnings[0].starts_with("2 entries are left out: entry 4 has the wait -7"),
        "{:?}",
        kept.warnings
    );
}

#[test]
fn playwright_has_tls_within_connect_and_twice_in_time() {
    let text = "{\"log\":{\"creator\":{\"name\":\"Playwright\"},\"entries\":[{\"time\":133,\"response\":{\"status\":200},\
                \"timings\":{\"dns\":8,\"connect\":60,\"ssl\":40,\"send\":0,\"wait\":20,\"receive\":5}}]}}";
    let sample = one(text);
    assert_eq!((sample.connect_ns, sample.tls_ns), (Some(20_000_000), Some(40_000_000)));
    assert_eq!((sample.get(Metric::Ttfb), sample.last_byte_ns), (Some(88_000_000), Some(93_000_000)));
}

#[test]
fn long_texts_are_bounded() {
    let long = "x".repeat(3 << 20);
    let body =
        entry(&format!("\"response\":{{\"status\":200,\"content\":{{\"text\":\"{long}\"}}}},\"time\":5"));
    assert_eq!(read(&body).unwrap().samples[0].last_byte_ns, Some(5_000_000));
    let behind = body.replace("\"time\":5", "\"time\":true");
    let column = behind.find("\"time\":true").unwrap() + "\"time\":true".len();
    let said = read(&behind).unwrap_err();
    assert!(said.starts_with(&format!("x:1:{column}: invalid type")), "{said}");
    for text in [
        entry(&format!("\"request\":{{\"url\":\"{long}\"}}")),
        entry(&format!("\"pageref\":\"{long}\"")),
        entry(&format!("\"startedDateTime\":\"{long}\"")),
        format!("{{\"log\":{{\"pages\":[{{\"id\":\"{long}\"}}]}}}}"),
    ] {
        let said = read(&text).unwrap_err();
        assert!(said.contains("the text is longer than 1048576 bytes") && said.len() < 300, "{said}");
        assert!(said.starts_with("x:1:3145"), "{said}");
    }
    let said = read(entry(&format!("\"time\":\"{}\"", "y".repeat(5000)))).unwrap_err();
    assert!(said.contains("invalid type: string") && said.contains("...") && said.len() < 500, "{said}");
    let deep = entry(&format!("\"x\":{}", "[".repeat(100_000)));
    assert!(read(&deep).unwrap_err().contains("a thousand deep"));
    let fits = entry(&format!(
        "\"time\":5,\"response\":{{\"status\":200}},\"x\":{}{}",
        "[".repeat(900),
        "]".repeat(900)
    ));
    assert!(read(&fits).is_ok());
}

#[test]
fn as_chrome_writes_it() {
    let Kept { samples, numbers, exact, .. } = read(CHROME).unwrap();
    assert_eq!(numbers, [1, 2, 3]);
    let fresh = &samples[0];
    // 1741944413 is 2025-03-14T09:26:53Z.
    assert_eq!(fresh.started_ns, Some(1_741_944_413_589_000_000));
    // TCP has the rest of 60.5 without TLS.
    assert_eq!(phases(fresh), [10.0, 20.25, 40.25, 0.25, 50.0, 9.5]);
    assert_eq!(
        (fresh.last_byte_ns, exact[0].as_slice()),
        (Some(131_750_000), &[(Metric::Total, 131.75)][..])
    );
    // 10 + 20.25 + 40.25 + 0.25 + 50.
    assert_eq!(fresh.get(Metric::Ttfb), Some(120_750_000));
    assert_eq!((fresh.status, fresh.body_bytes, fresh.reused), (Some(200), Some(5120), Some(false)));
    assert_eq!((fresh.page, samples[1].page), (Some(1), Some(0)));
    let label = |index: usize, name| samples[index].label(name).map(String::from);
    for (name, value) in [
        ("url", "https://a.example:8443/x?y=1"),
        ("host", "a.example:8443"),
        ("method", "GET"),
        ("protocol", "h2"),
        ("type", "document"),
        ("mime", "text/html"),
        ("remote_ip", "192.0.2.7"),
        ("page", "page_2"),
    ] {
        assert_eq!(label(0, name).as_deref(), Some(value), "{name}");
    }
    assert_eq!((label(0, "cache"), label(1, "cache").as_deref()), (None, Some("hit")));
    assert_eq!((label(1, "remote_ip"), samples[1].reused, samples[1].connect_ns), (None, None, None));
    assert_eq!(samples[2].error.as_deref(), Some("net::ERR_NAME_NOT_RESOLVED"));
    assert_eq!((samples[2].status, samples[2].body_bytes, samples[2].page), (None, None, Some(0)));
}

#[test]
fn firefox_writes_ssl_beside_connect() {
    let beside = "\"blocked\":1,\"dns\":2,\"connect\":30,\"ssl\":20,\"send\":0,\"wait\":40,\"receive\":5";
    // 1 + 2 + 30 + 20 + 40 + 5.
    assert_eq!(phases(&one(timed("98", beside))), [2.0, 30.0, 20.0, 0.0, 40.0, 5.0]);
    // 1 + 2 + 30 + 40 + 5.
    assert_eq!(phases(&one(timed("78", beside))), [2.0, 10.0, 20.0, 0.0, 40.0, 5.0]);
    let longer = one(timed("0", "\"connect\":20,\"ssl\":30,\"send\":1,\"wait\":1,\"receive\":1"));
    assert_eq!((longer.connect_ns, longer.tls_ns), (Some(20_000_000), Some(30_000_000)));
    assert_eq!(longer.last_byte_ns, Some(53_000_000));
    let cached = one(timed(
        "0",
        "\"blocked\":0,\"dns\":0,\"connect\":0,\"ssl\":0,\"send\":0,\"wait\":0,\"receive\":0",
    ));
    assert_eq!((phases(&cached), cached.last_byte_ns, cached.reused), ([-1.0; 6], None, None));
}

/// An export of Chrome of 2016: 35 ms of `time` are in no part.
#[test]
fn ssl_is_beside_connect_only_where_the_sum_says_so() {
    let timings = "\"blocked\":0.847,\"dns\":0.003,\"connect\":63.639,\"ssl\":31.423,\"send\":0.066,\"wait\":405.896,\"receive\":0.472";
    let sample = one(timed("505.902", timings));
    assert_eq!((sample.connect_ns, sample.tls_ns), (Some(32_216_000), Some(31_423_000)));
    let firefox =
        timed("505.902", timings).replace("\"entries\"", "\"creator\":{\"name\":\"Firefox\"},\"entries\"");
    assert_eq!(one(firefox).connect_ns, Some(63_639_000));
}

#[test]
fn a_handshake_is_of_one_entry() {
    let entry = |protocol: &str, timings: &str| {
        format!(
            "{{\"response\":{{\"status\":200,\"httpVersion\":\"{protocol}\"}},\"time\":31,\"timings\":{{{timings}}}}}"
        )
    };
    let quic = entry("h3", "\"connect\":10,\"ssl\":10,\"send\":1,\"wait\":20,\"receive\":0");
    let later = entry("h3", "\"connect\":-1,\"ssl\":-1,\"send\":1,\"wait\":30,\"receive\":0");
    let kept = read(format!("{{\"log\":{{\"entries\":[{quic},{later}]}}}}")).unwrap();
    assert_eq!((kept.samples[0].quic_ns, kept.samples[1].quic_ns), (Some(10_000_000), None));
    assert_eq!(kept.samples[1].get(Metric::Ttfb), Some(31_000_000));
}

#[test]
fn an_error_may_be_an_object() {
    let failed = "\"response\":{\"status\":302,\"_error\":{\"message\":\"Max redirects exceeded\",\"code\":\"MAXREDIRECTS\"}},\"time\":5";
    assert_eq!(one(entry(failed)).error.as_deref(), Some("Max redirects exceeded"));
}

#[test]
fn what_was_not_measured_is_absent() {
    let reused =
        one(timed("51", "\"dns\":-1,\"connect\":-1,\"ssl\":-1,\"send\":0,\"wait\":50,\"receive\":1"));
    assert_eq!(phases(&reused), [-1.0, -1.0, -1.0, 0.0, 50.0, 1.0]);
    assert_eq!((reused.reused, reused.last_byte_ns), (Some(true), Some(51_000_000)));
    let handshake = timed("61", "\"connect\":30,\"ssl\":30,\"send\":0,\"wait\":30,\"receive\":1");
    for (protocol, quic) in [("h3", Some(30_000_000)), ("HTTP/3.0", Some(30_000_000)), ("h2", None)] {
        let version = format!("\"status\":200,\"httpVersion\":\"{protocol}\"");
        let sample = one(handshake.replace("\"status\":200", &version));
        assert_eq!(
            (sample.connect_ns, sample.quic_ns, sample.reused),
            (None, quic, Some(false)),
            "{protocol}"
        );
        assert_eq!(sample.tls_ns.is_some(), quic.is_none(), "{protocol}");
    }
    let bare = one(entry("\"response\":{\"status\":304}"));
    assert_eq!((phases(&bare), bare.last_byte_ns, bare.started_ns, bare.page), ([-1.0; 6], None, None, None));
    let negative = one(timed("-1", "\"send\":-1,\"wait\":7,\"receive\":null"));
    assert_eq!(
        (phases(&negative)[3..].to_vec(), negative.last_byte_ns),
        (vec![-1.0, 7.0, -1.0], Some(7_000_000))
    );
    assert_eq!(one(entry("\"time\":5")).error.as_deref(), Some("no response"));
    assert_eq!(
        one(entry("\"_error\":{\"a\":[1]},\"_fromCache\":false,\"response\":{\"status\":200}")).error,
        None
    );
}

#[test]
fn what_is_broken_is_named() {
    let refused = |text: &str| read(text).unwrap_err();
    // Within the key that begins in column 9 of line 19.
    let cut = &CHROME[..CHROME.find("erverIPAddress\"").unwrap()];
    assert_eq!(
        refused(cut),
        "x:19:10: EOF while parsing a string; expected HAR: an object with log.entries, an array of requests with \
         their timings"
    );
    assert!(
        refused(&entry("\"time\":\"5\"")).starts_with("x:1:30: invalid type: string \"5\", expected f64;")
    );
    assert!(
        refused(&entry("\"startedDateTime\":\"yesterday\""))
            .contains("entry 1 has the startedDateTime \"yesterday\", where a date is expected")
    );
    assert!(refused("{\"log\":{\"entries\":{}}}").contains("invalid type: map, expected an array"));
    assert!(refused("{\"log\":[]}").contains("expected an object with \"entries\""));
    assert!(refused("{\"log\":{\"entries\":[]}}").starts_with("x:1:1: there is no request in log.entries;"));
    assert!(refused(&format!("{} {{}}", entry("\"time\":5"))).contains("trailing characters"));
    let two = "{\"log\":{\"entries\":[{\"time\":1},{\"time\":2},{\"time\":3}]}}";
    assert_eq!(refused_by_sink(two), "cannot write line 2 of the recording");
}

/// Generated while it is read: entries with bodies of 64 KiB.
struct Endless {
    entries: u32,
    part: Vec<u8>,
    at: usize,
}

impl std::io::Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.part.len() {
            let body = "b".repeat(64 << 10);
            self.part = match self.entries {
                0 => return Ok(0),
                1 => b"]}}".to_vec(),
                _ => format!(
                    ",{{\"time\":2,\"response\":{{\"status\":200,\"content\":{{\"text\":\"{body}\"}}}},\"n\":[[[]]]}}"
                )
                .into_bytes(),
            };
            (self.entries, self.at) = (self.entries - 1, 0);
        }
        let count = buffer.len().min(self.part.len() - self.at);
        buffer[..count].copy_from_slice(&self.part[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

#[test]
fn a_large_file_is_read_as_it_comes() {
    let head = b"{\"log\":{\"entries\":[{\"time\":1,\"response\":{\"status\":200}}".to_vec();
    let input = Endless { entries: 501, part: head, at: 0 };
    let mut kept = Kept::default();
    crate::decode(input, std::path::Path::new("x"), &crate::Options::default(), &mut kept).unwrap();
    assert_eq!(kept.samples.len(), 501);
    assert!(kept.samples[1..].iter().all(|sample| sample.last_byte_ns == Some(2_000_000)));
}

proptest! {
    #[test]
    fn garbage_never_panics(bytes in damaged(CHROME)) {
        if let Ok(kept) = read(&bytes) {
            prop_assert!(kept.exact.iter().flatten().all(|(_, ms)| ms.is_finite() && *ms >= 0.0));
        }
    }
}
