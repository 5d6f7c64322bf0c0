//! Lines of nginx and Envoy, and wrong lines and formats.

use std::path::Path;

use super::{log::SERVERS_OWN, *};
use crate::{Counts, Event, Format, Labels, Metric, Sample, Unit, decode, read::json};

#[derive(Default)]
struct Kept(Vec<(Sample, Vec<(Metric, f64)>)>);

impl Sink for Kept {
    fn event(&mut self, event: &Event<'_>) -> Result<(), Error> {
        self.0.push((event.sample.clone(), event.exact.to_vec()));
        Ok(())
    }

    fn counts(&mut self, _: &Counts) -> Result<(), Error> {
        panic!("an access log has events")
    }
}

type Read = (Vec<(Sample, Vec<(Metric, f64)>)>, Vec<String>);

fn read_as(format: &str, text: impl AsRef<[u8]>) -> Result<Read, String> {
    let mut kept = Kept::default();
    let log = Some(format.parse().map_err(|error: Unknown| error.to_string())?);
    let options = Options { access_log: log, labels: Labels::All, ..Options::default() };
    let origin =
        decode(text.as_ref(), Path::new("a.log"), &options, &mut kept).map_err(|error| error.to_string())?;
    assert!(matches!(origin.format, Format::Access(_)), "{:?}", origin.format);
    Ok((kept.0, origin.warnings))
}

fn one(format: &str, line: &str) -> Sample {
    let (mut samples, _) = read_as(format, format!("{line}\n")).unwrap();
    assert_eq!(samples.len(), 1);
    samples.remove(0).0
}

fn refused(format: &str, line: &str) -> String {
    read_as(format, format!("{line}\n")).unwrap_err()
}

fn labels(sample: &Sample) -> Vec<(&str, &str)> {
    sample.labels.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

#[test]
fn nginx_by_name() {
    let line = r#"2001:db8::7 - - [10/Oct/2000:13:55:36 -0700] "GET /a/b?c=1 HTTP/2.0" 200 5316 "-" "curl/8 \x22x\x22 (a b)" 0.250"#;
    let (samples, warnings) = read_as("nginx", format!("{line}\n{line}\n")).unwrap();
    assert_eq!(samples.len(), 2);
    let (sample, exact) = &samples[0];
    assert_eq!(
        (sample.latency_ns, sample.status, sample.body_bytes),
        (Some(250_000_000), Some(200), Some(5316))
    );
    // 971211336 is the end of the request.
    assert_eq!(sample.started_ns, Some(971_211_335_750_000_000));
    assert_eq!(exact.as_slice(), [(Metric::Latency, 250.0)]);
    assert_eq!(
        labels(sample),
        [
            ("http_user_agent", "curl/8 \"x\" (a b)"),
            ("method", "GET"),
            ("path", "/a/b"),
            ("protocol", "HTTP/2.0"),
            ("remote_addr", "2001:db8::7"),
            ("request", "GET /a/b?c=1 HTTP/2.0"),
        ]
    );
    assert_eq!(
        warnings,
        [SERVERS_OWN, "The log's times are in whole seconds; percentiles over time cannot be finer."]
    );
}

#[test]
fn upstreams_are_the_servers_own_requests() {
    let format = "$msec $request_method ${host} $status $request_time $upstream_connect_time $upstream_header_time \
                  $upstream_response_time $connection_requests $pipe";
    let sample = one(
        format,
        "971211336.589 POST example.com 502 0.250 0.001, 0.002 0.050, 0.100 0.050, 0.150 : - 3 .",
    );
    assert_eq!(sample.started_ns, Some(971_211_336_339_000_000));
    assert_eq!(
        [Metric::Latency, Metric::Connect, Metric::Ttfb, Metric::Total].map(|metric| sample.get(metric)),
        [Some(250_000_000), Some(3_000_000), Some(150_000_000), Some(200_000_000)]
    );
    assert_eq!(sample.reused, Some(true));
    assert_eq!(labels(&sample), [("host", "example.com"), ("method", "POST"), ("pipe", ".")]);
    let absent = one(format, "971211336.589 GET - 200 0.250 - - - 1 -");
    assert_eq!(
        (absent.get(Metric::Total), absent.reused, labels(&absent)),
        (None, Some(false), vec![("method", "GET")])
    );
}

#[test]
fn the_finest_time_counts() {
    let format = "[$time_local] $msec $time_iso8601 $request_time";
    let line = "[10/Oct/2000:13:55:36 -0700] 971211336.589 2000-10-10T13:55:36-07:00 0.000\n";
    let (samples, warnings) = read_as(format, line).unwrap();
    assert_eq!(samples[0].0.started_ns, Some(971_211_336_589_000_000));
    assert_eq!(warnings, [SERVERS_OWN]);
}

#[test]
fn envoy_by_name() {
    let line = r#"[2016-04-15T20:17:00.310Z] "POST /api/v1/locations?x=1 HTTP/2" 204 - 154 0 226 100 "10.0.35.28" "nsq2http" "cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2" "locations" "tcp://10.0.2.1:80""#;
    let (samples, warnings) = read_as("envoy", format!("{line}\n")).unwrap();
    let sample = &samples[0].0;
    // date -u -d 2016-04-15T20:17:00Z +%s. Envoy writes when a request began.
    assert_eq!(sample.started_ns, Some(1_460_751_420_310_000_000));
    assert_eq!((sample.latency_ns, sample.wait_ns), (Some(226_000_000), Some(100_000_000)));
    assert_eq!((sample.status, sample.body_bytes), (Some(204), Some(0)));
    let expected =
        [("bytes_received", "154"), ("host", "locations"), ("method", "POST"), ("path", "/api/v1/locations")];
    assert_eq!(&labels(sample)[..4], expected);
    assert_eq!(sample.labels["upstream_host"], "tcp://10.0.2.1:80");
    assert_eq!(warnings, [SERVERS_OWN]);
}

#[test]
fn envoy_by_a_format() {
    let format = "%START_TIME(%s.%3f)% %REQ(X-TENANT?X-ORG):10% %REQUEST_DURATION% %RESPONSE_DURATION% \
                  %RESPONSE_TX_DURATION% %DURATION% %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% 100%%\\n";
    let sample = one(format, "1460751420.310 acme 1 20 3 25 19 100%");
    assert_eq!(sample.started_ns, Some(1_460_751_420_310_000_000));
    assert_eq!(
        [Metric::Send, Metric::Ttfb, Metric::Load, Metric::Latency, Metric::Wait]
            .map(|metric| sample.get(metric)),
        [Some(1_000_000), Some(20_000_000), Some(3_000_000), Some(25_000_000), None]
    );
    assert_eq!(labels(&sample), [("x-envoy-upstream-service-time", "19"), ("x-org", "acme")]);
}

#[test]
fn who_went_away_did_not_wait() {
    let gone = one("$status $request_time", "499 60.000");
    assert_eq!(
        (gone.error.as_deref(), gone.get(Metric::Latency)),
        (Some("the client closed the connection (499)"), None)
    );
    assert_eq!(one("%RESPONSE_CODE% %DURATION%", "0 5").error.as_deref(), Some("no response (0)"));
    assert_eq!(one("$status $request_time", "503 0.001").error, None);
}

#[test]
fn variables_without_anything_between() {
    let sample = one("$scheme://$host$request_uri $request_time", "https://example.com/a?b 0.5");
    assert_eq!(labels(&sample), [("$host$request_uri", "example.com/a?b"), ("scheme", "https")]);
    let time = one("$msec$host $request_time", "971211336.589example.com 0.5");
    assert_eq!(labels(&time), [("host", "example.com")]);
}

#[test]
fn what_is_no_request_is_still_a_line() {
    let sample = one("\"$request\" $status $request_time", r#""\x16\x03\x01" 400 0.010"#);
    assert_eq!((sample.status, labels(&sample).len()), (Some(400), 1));
}

#[test]
fn where_a_line_departs() {
    let format = r#"[$time_local] "$request" $status $request_time $upstream_response_time"#;
    let line = r#"[10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 0.250 0.2"#;
    one(format, line);
    let cases = [
        (
            "[10",
            "10",
            "a.log:1:1: found \"10/Oct/2000:13:55:36 -0700] \\\"GET / HTTP/\"...; expected \"[\" at the line's start",
        ),
        (
            "Oct",
            "Okt",
            "a.log:1:2: found \"10/Okt/2000:13:55:36 -0700] \\\"GET / HTTP/\"...; expected a time such as 10/Oct/2000:13:55:36 -0700 for $time_local",
        ),
        (
            "0] ",
            "0]",
            "a.log:1:28: found \"]\\\"GET / HTTP/1.1\\\" 200 0.250 0.2\"; expected \"] \\\"\" after $time_local",
        ),
        (
            "1.1\"",
            "1.1",
            "a.log:1:31: found \"GET / HTTP/1.1 200 0.250 0.2\"; expected \"\\\" \" somewhere after $request",
        ),
        (
            " 200 ",
            " abc ",
            "a.log:1:47: found \"abc 0.250 0.2\"; expected an HTTP status, or \"-\", for $status",
        ),
        (
            "0.250",
            "0.25s",
            "a.log:1:51: found \"0.25s 0.2\"; expected a number of seconds from 0 to 1e12, or \"-\", for $request_time",
        ),
        ("0.250", "x", "a.log:1:51: found \"x 0.2\"; expected a number of seconds"),
        ("250 0.2", "250 x", "a.log:1:57: found \"x\"; expected seconds, perhaps several"),
        ("250 0.2", "250 0.2 7", "a.log:1:60: found \" 7\"; expected the end of the line"),
        ("250 0.2", "250", "a.log:1:51: found \"0.250\"; expected \" \" somewhere after $request_time"),
    ];
    for (from, to, message) in cases {
        assert!(line.contains(from));
        let said = refused(format, &line.replacen(from, to, 1));
        assert!(said.starts_with(message), "{said}\n{message}");
    }
    assert!(refused(format, "").starts_with("a.log:1:1: there is no line"));
}

#[test]
fn a_last_line_that_breaks_off() {
    let format = "$status $request_time";
    let (samples, warnings) = read_as(format, "200 0.1\n\n20").unwrap();
    assert_eq!((samples.len(), warnings[0].as_str()), (1, json::cut_off(3).as_str()));
    assert!(read_as(format, "20").is_err());
}

#[test]
fn where_a_format_goes_wrong() {
    let said = |format: &str| format.parse::<AccessLog>().unwrap_err().to_string();
    let cases = [
        ("combined", "unknown part of the log format, from \"%h %l"),
        (
            "$status $host",
            "unknown part of the log format, from \"$status $host\"; expected a time that requests took",
        ),
        (
            "$status ${request_time",
            "unknown part of the log format, from \"${request_time\"; expected a } after",
        ),
        ("$request_time $", "unknown part of the log format, from \"$\"; expected the name of a variable"),
        (
            "$status$request_time",
            "unknown part of the log format, from \"$request_time\"; expected some text between",
        ),
        ("%DURATION% %REQ(:PATH", "unknown part of the log format, from \"%REQ(:PATH\"; expected a ) after"),
        ("%DURATION% %PROTOCOL", "unknown part of the log format, from \"%PROTOCOL\"; expected a % at the"),
        ("%DURATION% 5% ", "unknown part of the log format, from \"% \"; expected a % at the"),
        ("%DURATION% %x%", "unknown part of the log format, from \"%x%\"; expected the name of a command"),
        (
            "%DURATION% %START_TIME(%q)%",
            "unknown part of the log format, from \"%START_TIME(%q)%\"; expected a pattern",
        ),
        ("", "unknown part of the log format, from \"\"; expected nginx, envoy, istio"),
    ];
    for (format, message) in cases {
        assert!(said(format).starts_with(message), "{}", said(format));
    }
}

/// nginx always writes three decimals. A number without decimals has another unit.
#[test]
fn whole_numbers_are_not_taken_for_seconds() {
    let format = "$status $upstream_header_time $request_time";
    let said = refused(format, "200 - 152");
    assert!(
        said.starts_with("a.log:1:7: found 152; expected a fraction of seconds somewhere in the file"),
        "{said}"
    );
    assert!(said.contains("--unit ms"), "{said}");
    assert!(refused(format, "200 12 -").contains("found 12"));
    let with = |unit, text: &str| {
        let options =
            Options { access_log: Some(format.parse().unwrap()), unit: Some(unit), ..Options::default() };
        let mut kept = Kept::default();
        decode(text.as_bytes(), Path::new("a.log"), &options, &mut kept).unwrap();
        kept.0[0].0.latency_ns
    };
    assert_eq!(
        (with(Unit::Ms, "200 - 152\n"), with(Unit::Us, "200 - 152\n")),
        (Some(152_000_000), Some(152_000))
    );
    // A fraction anywhere proves seconds, and 0 is 0 in any unit.
    let (samples, warnings) = read_as(format, "200 - 12\n200 0.005, 0.006 0.250\n").unwrap();
    assert_eq!(samples[0].0.latency_ns, Some(12_000_000_000));
    assert!(warnings[0].starts_with("1 duration is whole, the first in line 1"), "{warnings:?}");
    assert_eq!(read_as(format, "200 - 0\n").unwrap().1.len(), 1);
    assert_eq!(one("%RESPONSE_CODE% %DURATION%", "200 152").latency_ns, Some(152_000_000));
}

const JSON: &str = r#"{"@timestamp":"2025-03-14T09:26:53+00:00","msec":"1741944413.589","remote_addr":"192.0.2.7","request":"GET /x?y=1 HTTP/2.0","status":200,"body_bytes_sent":"512","request_time":0.250,"upstream_connect_time":"0.001, 0.002","upstream_header_time":"0.200","upstream_response_time":"-","http_user_agent":"curl \"8\"","tls":{"v":1},"host":"a.example"}
{"time_local":"14/Mar/2025:10:26:54 +0100","request_method":"GET","uri":"/y","status":"499","request_time":"1.000","connection_requests":"3"}
{"message":"reopened"}
"#;

fn json(text: &str) -> Result<json::testing::Kept, String> {
    json::testing::read(text)
}

#[test]
fn nginx_in_json() {
    let kept = json(JSON).unwrap();
    assert_eq!(
        (kept.format, kept.numbers.as_slice()),
        (Some(Format::Access(AccessFormat::NginxJson)), &[1, 2][..])
    );
    let sample = &kept.samples[0];
    assert_eq!((sample.started_ns, sample.latency_ns), (Some(1_741_944_413_339_000_000), Some(250_000_000)));
    assert_eq!(
        (sample.connect_ns, sample.ttfb_ns, sample.last_byte_ns),
        (Some(3_000_000), Some(200_000_000), None)
    );
    assert_eq!((sample.status, sample.body_bytes, &sample.error), (Some(200), Some(512), &None));
    for (name, value) in [
        ("method", "GET"),
        ("path", "/x"),
        ("host", "a.example"),
        ("remote_addr", "192.0.2.7"),
        ("http_user_agent", "curl \"8\""),
    ] {
        assert_eq!(sample.label(name).as_deref(), Some(value), "{name}");
    }
    let gone = &kept.samples[1];
    assert_eq!((gone.started_ns, gone.reused), (Some(1_741_944_413_000_000_000), Some(true)));
    assert_eq!(gone.error.as_deref(), Some("the client closed the connection (499)"));
    let by_the_second = "The log's times are in whole seconds; percentiles over time cannot be finer.";
    assert_eq!(kept.warnings, [SERVERS_OWN, by_the_second, "1 line without a request left out."]);
    let first = JSON.lines().next().unwrap();
    assert_eq!(json(&format!("{first}\n")).unwrap().warnings, [SERVERS_OWN]);
}

#[test]
fn nginx_in_json_and_units_and_mistakes() {
    let line = |time: &str| format!("{{\"status\":200,\"request_time\":{time}}}\n");
    let said = json(&line("152")).unwrap_err();
    assert!(said.starts_with("x:1:30: found 152; expected a fraction of seconds"), "{said}");
    assert!(json(&line("\"152\"")).unwrap_err().starts_with("x:1:31: found 152"));
    for time in ["0.152", "\"0.152\"", "0.000", "\"-\""] {
        assert!(json(&line(time)).is_ok(), "{time}");
    }
    let left_out = |wrong: &str| json(&(line("0.1") + wrong)).unwrap().warnings.remove(0);
    assert_eq!(
        left_out(&line("\"fast\"")),
        "1 line is left out; it is line 2, column 31: found \"fast\"; expected a number of seconds from 0 to 1e12, or \"-\", for \
         request_time."
    );
    assert!(left_out("oops\n").contains("line 2, column 1: found no JSON object (expected value)"));
    assert!(json(&(line("0.1") + "oops\noops\n")).unwrap_err().starts_with("x:2:1: found no JSON object"));
    assert_eq!(json(&(line("0.1") + "{\"request_ti")).unwrap().samples.len(), 1);
}

proptest::proptest! {
    #[test]
    fn garbled_json_never_panics(bytes in json::testing::damaged(JSON)) {
        drop(json::testing::read(bytes));
    }
}
