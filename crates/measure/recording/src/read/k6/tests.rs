//! Points as k6 writes them, and what must be refused.

use proptest::prelude::*;

use crate::{
    Metric,
    read::{
        Format,
        json::testing::{Kept, damaged, one, phases, read, refused_by_sink},
    },
};

/// In milliseconds, in k6's order.
fn request(time: &str, tags: &str, values: [(&str, f64); 9]) -> String {
    let point = |(name, value): (&str, f64)| {
        format!(
            "{{\"metric\":\"{name}\",\"type\":\"Point\",\"data\":{{\"time\":\"{time}\",\"value\":{value},\"tags\":{{{tags}}}}}}}\n"
        )
    };
    values.into_iter().map(point).collect()
}

fn values(connecting: f64, tls: f64, failed: f64) -> [(&'static str, f64); 9] {
    [
        ("http_reqs", 1.0),
        ("http_req_duration", 60.75),
        ("http_req_blocked", 70.5),
        ("http_req_connecting", connecting),
        ("http_req_tls_handshaking", tls),
        ("http_req_sending", 0.25),
        ("http_req_waiting", 50.0),
        ("http_req_receiving", 10.5),
        ("http_req_failed", failed),
    ]
}

const TAGS: &str = "\"expected_response\":\"true\",\"group\":\"::login\",\"method\":\"GET\",\"name\":\"front\",\
                    \"proto\":\"HTTP/2.0\",\"scenario\":\"default\",\"status\":\"200\",\"url\":\"https://a.example/\"";

const METRIC: &str = "{\"type\":\"Metric\",\"data\":{\"name\":\"http_reqs\",\"type\":\"counter\",\"contains\":\"default\",\
                      \"thresholds\":[],\"submetrics\":null},\"metric\":\"http_reqs\"}\n";

const FILE: &str = r#"{"type":"Metric","data":{"name":"http_reqs","type":"counter","contains":"default","thresholds":[],"submetrics":null},"metric":"http_reqs"}
{"metric":"http_reqs","type":"Point","data":{"time":"2025-03-14T09:26:53.5Z","value":1,"tags":{"method":"GET","status":"200","url":"https://a.example/"}}}
{"type":"Metric","data":{"name":"http_req_duration","type":"trend","contains":"time","thresholds":["p(95)<200"],"submetrics":null},"metric":"http_req_duration"}
{"metric":"http_req_duration","type":"Point","data":{"time":"2025-03-14T09:26:53.5Z","value":60.75,"tags":{"method":"GET","status":"200","url":"https://a.example/"}}}
{"metric":"http_req_blocked","type":"Point","data":{"time":"2025-03-14T09:26:53.5Z","value":0.001,"tags":{"method":"GET","status":"200","url":"https://a.example/"}}}
{"metric":"http_req_connecting","type":"Point","data":{"time":"2025-03-14T09:26:53.5Z","value":0,"tags":{"method":"GET","status":"200","url":"https://a.example/"}}}
{"metric":"data_sent","type":"Point","data":{"time":"2025-03-14T09:26:53.6Z","value":90,"tags":{"group":""},"metadata":{"vu":"1"}}}
{"metric":"http_reqs","type":"Point","data":{"time":"2025-03-14T09:26:54Z","value":1,"tags":{"error":"dial: refused","error_code":"1212","status":"0"}}}
"#;

#[test]
fn a_request_is_put_together() {
    let file = format!("{METRIC}{}", request("2025-03-14T09:26:53.5Z", TAGS, values(20.25, 40.25, 0.0)));
    let sample = one(&file);
    assert_eq!(phases(&sample), [-1.0, 20.25, 40.25, 0.25, 50.0, 10.5]);
    assert_eq!(sample.get(Metric::Latency), Some(60_750_000));
    // Blocked and duration: 70.5 + 60.75.
    assert_eq!(sample.get(Metric::Total), Some(131_250_000));
    // The end: 53.5 s - 131.25 ms. 1741944413 is 2025-03-14T09:26:53Z.
    assert_eq!(sample.started_ns, Some(1_741_944_413_368_750_000));
    assert_eq!((sample.status, sample.reused, &sample.error), (Some(200), Some(false), &None));
    for (name, value) in [
        ("group", "::login"),
        ("scenario", "default"),
        ("name", "front"),
        ("method", "GET"),
        ("protocol", "HTTP/2.0"),
        ("host", "a.example"),
        ("expected_response", "true"),
    ] {
        assert_eq!(sample.label(name).as_deref(), Some(value), "{name}");
    }
    let Kept { exact, numbers, .. } = read(&file).unwrap();
    assert_eq!((numbers, exact), (vec![2], vec![vec![(Metric::Latency, 60.75)]]));
}

#[test]
fn requests_are_told_apart() {
    let reused = request("2025-03-14T09:26:53.5Z", TAGS, values(0.0, 0.0, 0.0));
    let later = reused.replace("53.5Z", "53.6Z");
    let other = later.replace("front", "back");
    let kept = read(format!("{reused}{reused}{later}{other}")).unwrap();
    assert_eq!(kept.numbers, [1, 10, 19, 28]);
    assert!(kept.samples.iter().all(|sample| sample.get(Metric::Total) == Some(131_250_000)));
    assert_eq!((kept.samples[0].reused, kept.samples[0].connect_ns), (Some(true), None));
    assert_eq!(kept.samples[3].label("name").as_deref(), Some("back"));
    let durations: String =
        later.lines().filter(|line| line.contains("_duration")).map(|line| format!("{line}\n")).collect();
    let kept = read(format!("{durations}{durations}")).unwrap();
    assert_eq!(kept.samples.len(), 2);
    assert_eq!((kept.samples[0].latency_ns, kept.samples[0].last_byte_ns), (Some(60_750_000), None));
}

#[test]
fn failures_and_answers() {
    let failed = |tags: &str| one(request("2025-03-14T09:26:53Z", tags, values(0.0, 0.0, 1.0))).error;
    assert_eq!(failed("\"status\":\"500\",\"error_code\":\"1500\",\"expected_response\":\"false\""), None);
    assert_eq!(failed("\"status\":\"0\",\"error\":\"EOF\",\"error_code\":\"1000\""), Some("EOF".to_owned()));
    assert_eq!(failed("\"status\":\"0\",\"error_code\":\"1050\""), Some("error code 1050".to_owned()));
    assert_eq!(failed("\"status\":\"0\""), Some("no response".to_owned()));
    assert_eq!(failed("\"error_code\":\"1101\""), Some("error code 1101".to_owned()));
    assert_eq!(failed("\"error_code\":\"1404\""), None);
    assert_eq!(failed(""), None);
}

#[test]
fn a_file() {
    let Kept { samples, numbers, .. } = read(FILE).unwrap();
    assert_eq!(numbers, [2, 8]);
    assert_eq!((samples[0].get(Metric::Total), samples[0].wait_ns), (Some(60_751_000), None));
    assert_eq!((samples[1].error.as_deref(), samples[1].status), (Some("dial: refused"), None));
    assert!(samples[1].label("method").is_none());
}

#[test]
fn a_clock_set_back_measures_nothing() {
    let mut broken = values(0.0, 0.0, 0.0);
    (broken[1].1, broken[5].1) = (-5.0, -60.0);
    let sample = one(request("2025-03-14T09:26:53Z", TAGS, broken));
    assert_eq!(
        (sample.latency_ns, sample.last_byte_ns, sample.send_ns, sample.started_ns),
        (None, None, None, None)
    );
    assert_eq!(sample.wait_ns, Some(50_000_000));
}

#[test]
fn what_is_broken_is_named() {
    assert_eq!(
        read(FILE.replace("2025-03-14T09:26:54Z", "now")).unwrap_err(),
        "x:8:57: invalid value: string \"now\", expected a time after 1970 such as \"2025-03-14T09:26:53.589Z\"; \
         expected a line of k6's JSON output, one metric or one point of it"
    );
    assert!(read(FILE.replace("60.75", "\"x\"")).unwrap_err().contains("x:4:"));
    assert!(read(format!("{METRIC}[]\n")).unwrap_err().starts_with("x:2:"));
    let kept = read(&FILE[..FILE.len() - 20]).unwrap();
    assert_eq!(kept.warnings, ["Line 8, the last, is cut off in mid-write; read up to the line before it."]);
    assert_eq!(refused_by_sink(FILE), "cannot write line 2 of the recording");
}

const COLUMNS: &str = "metric_name,timestamp,metric_value,error,method,name,status,url,extra_tags,metadata\n";

fn rows(time: &str, tags: [&str; 2], values: [(&str, f64); 9]) -> String {
    let [tags, swapped] = tags;
    let row = |(index, (name, value)): (usize, (&str, f64))| {
        let tags = if index % 2 == 0 { tags } else { swapped };
        format!("{name},{time},{value:.6},{tags}\n")
    };
    values.into_iter().enumerate().map(row).collect()
}

const ROW_TAGS: [&str; 2] = [
    ",GET,\"front, \"\"door\"\"\",200,https://a.example/,city=Oslo&net=a,vu=1",
    ",GET,\"front, \"\"door\"\"\",200,https://a.example/,net=a&city=Oslo,vu=1",
];

#[test]
fn rows_of_csv() {
    let other = "vus,1741944413,1.000000,,,,,,,\nchecks,1741944413,1.000000,,,,,,,\n";
    let text = COLUMNS.to_owned()
        + other
        + &rows("1741944413", ROW_TAGS, values(30.25, 40.25, 0.0))
        + &rows("1741944413", ROW_TAGS, values(0.0, 0.0, 0.0));
    let kept = read(&text).unwrap();
    assert_eq!((kept.format, kept.numbers.as_slice()), (Some(Format::K6Csv), &[4, 13][..]));
    let sample = &kept.samples[0];
    assert_eq!(phases(sample), [-1.0, 30.25, 40.25, 0.25, 50.0, 10.5]);
    assert_eq!((sample.latency_ns, sample.last_byte_ns), (Some(60_750_000), Some(131_250_000)));
    assert_eq!((sample.status, &sample.error, sample.reused), (Some(200), &None, Some(false)));
    for (name, value) in
        [("name", "front, \"door\""), ("city", "Oslo"), ("net", "a"), ("vu", "1"), ("host", "a.example")]
    {
        assert_eq!(sample.label(name).as_deref(), Some(value), "{name}");
    }
    assert_eq!(kept.samples[1].reused, Some(true));
    assert!(kept.warnings[0].contains("in whole seconds"), "{:?}", kept.warnings);
}

#[test]
fn times_of_csv_in_every_format() {
    // 131.25 ms before the end of 2025-03-14T09:26:53.5Z.
    for (time, is_by_the_second) in [
        ("1741944413500", false),
        ("1741944413500000", false),
        ("1741944413500000000", false),
        ("2025-03-14T09:26:53.5Z", false),
        ("1741944413", true),
        ("2025-03-14T09:26:53Z", true),
    ] {
        let kept = read(COLUMNS.to_owned() + &rows(time, ROW_TAGS, values(1.0, 0.0, 0.0))).unwrap();
        let started = if is_by_the_second { 1_741_944_412_868_750_000 } else { 1_741_944_413_368_750_000 };
        assert_eq!(kept.samples[0].started_ns, Some(started), "{time}");
        assert_eq!(kept.warnings.len(), usize::from(is_by_the_second), "{time}");
    }
}

#[test]
fn failures_and_mistakes_of_csv() {
    let tags = ["dial: refused,GET,x,0,https://a.example/,error_code=1212,"; 2];
    let text = COLUMNS.to_owned() + &rows("1741944413", tags, values(0.0, 0.0, 1.0));
    assert_eq!(one(&text).error.as_deref(), Some("dial: refused"));
    let refused = |row: &str| read(format!("{text}{row}\n")).unwrap_err();
    assert_eq!(
        refused("http_reqs,1741944413,1"),
        "x:11:23: found 3 columns; expected 10, as in the first row"
    );
    assert!(refused("http_reqs,soon,1,,,,,,,").starts_with("x:11:11: found \"soon\"; expected a time"));
    assert!(refused("http_reqs,1741944413,NaN,,,,,,,").starts_with("x:11:22: found \"NaN\""));
    assert!(refused("http_reqs,1741944413,1,\"x,,,,,,").starts_with("x:11:24: found a double quote"));
    let kept = read(format!("{text}http_reqs,17419")).unwrap();
    assert_eq!((kept.samples.len(), kept.warnings.len()), (1, 2));
}

proptest! {
    #[test]
    fn garbled_rows_never_panic(bytes in damaged("metric_name,timestamp,metric_value,error,status,extra_tags,metadata\nhttp_reqs,1741944413,1.0,,200,a=b&c=d,\nhttp_req_duration,1741944413,5.5,,200,c=d&a=b,\nhttp_reqs,1741944413,1.0,\"x, y\",0,,\n")) {
        drop(read(bytes));
    }
}

proptest! {
    #[test]
    fn garbage_never_panics(bytes in damaged(FILE)) {
        drop(read(bytes));
    }
}
