//! Detects the format of a file by its content: names may be wrong, and a pipe has no name.

use std::path::Path;

use super::{
    AccessFormat, Format, Options, ab, access, fping, gatling, hey, jmeter, locust, locust_history, mtr,
    ping, prometheus, smokeping, unsupported, windows_ping, wrk,
};
use crate::{Error, Place};

/// `head` is the first 64 KiB, or all.
pub(super) fn detect(head: &[u8], path: &Path, options: &Options) -> Result<Format, Error> {
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    let refuse = |found: &str| {
        let place = Place { path: path.to_owned(), line: 1, column: 1 };
        Err(Error::NotARecording { place, found: found.to_owned(), expected: EXPECTED })
    };
    if head.is_empty() {
        let place = Place { path: path.to_owned(), line: 1, column: 1 };
        return Err(Error::Empty { place, found: "the file is empty".to_owned(), expected: EXPECTED });
    }
    if head.starts_with(b"PK\x03\x04") {
        return refuse("this is a zip file or a spreadsheet (export it as CSV)");
    }
    if is_vegeta_gob(head) {
        return refuse("this is vegeta's binary format (turn it into JSON: vegeta encode --to json)");
    }
    if head.starts_with(b"RRD\0") {
        return refuse(ROUND_ROBIN);
    }
    if gatling::is_binary(head) {
        return refuse(
            "this is Gatling's binary log, which newer versions write (convert it into CSV with a parser of such \
             logs, and name the columns with --column)",
        );
    }
    if let Some(file) = locust::other_file(first_line(head)) {
        return refuse(&format!("this is {file} (read NAME_stats.csv instead)"));
    }
    if let Some(log) = &options.access_log {
        return Ok(Format::Access(log.format()));
    }
    if let Some(log) = access::detect(head) {
        return Ok(Format::Access(log));
    }
    if let Some(found) = access::refused(head) {
        return refuse(found);
    }
    if let Some(found) = unsupported::describe(head) {
        return refuse(&found);
    }
    let text = head.trim_ascii_start();
    match text.first() {
        // The time of a line.
        Some(b'[') if fping::is_line(first_line(text)) => Ok(Format::Fping),
        Some(b'[') if ping::is_header(first_line(text)) => Ok(Format::Ping),
        Some(b'{' | b'[') => match json(text) {
            Some(format) => Ok(format),
            None if first_key(text) == Some(b"report") => refuse(A_REPORT_OF_MTR),
            // Of its API, and of its tables in BigQuery.
            None if first_key(text) == Some(b"record")
                || memchr::memmem::find(text, b"\"density\"").is_some() =>
            {
                refuse(
                    "this is CrUX, which has shares of an unknown number of page loads (measure with Resource Timing or Lighthouse)",
                )
            }
            None if first_key(text)
                .is_some_and(|key| matches!(key, b"resourceMetrics" | b"resourceLogs")) =>
            {
                refuse(
                    "these are metrics of OpenTelemetry or logs, which have no samples (export traces: resourceSpans)",
                )
            }
            None if text.starts_with(b"[") => refuse("this is a JSON array of nothing known"),
            None => refuse(&format!("this is JSON of nothing known{}", unsupported::keys(text))),
        },
        Some(b'<') if memchr::memmem::find(text, b"<testResults").is_some() => Ok(Format::JmeterXml),
        Some(b'<') if memchr::memmem::find(text, b"<rrd>").is_some() => refuse(ROUND_ROBIN),
        Some(b'<') => refuse(&unsupported::xml(text)),
        _ if has_line(head, is_hgrm_header) => Ok(Format::Hgrm),
        _ if has_line(head, is_hlog_line) => Ok(Format::Hlog),
        _ if head.starts_with(b"request-start,DNS,DNS+dialup,") => Ok(Format::OhaCsv),
        _ if head.starts_with(b"metric_name,timestamp,metric_value,") => Ok(Format::K6Csv),
        _ if is_vegeta_csv(head) => Ok(Format::VegetaCsv),
        _ if jmeter::is_header(first_line(head)) => Ok(Format::JmeterCsv),
        _ if hey::is_header(first_line(head)) => Ok(Format::Hey),
        _ if ab::is_header(first_line(head)) => Ok(Format::Ab),
        _ if ab::is_header_of_percentiles(first_line(head)) => refuse(
            "this is what ab -e writes: percentiles of an unknown number of requests (write them with ab -g FILE)",
        ),
        _ if has_line(head, wrk::is_header) => Ok(Format::Wrk),
        _ if locust::is_header(first_line(head)) => Ok(Format::Locust),
        _ if locust_history::is_header(first_line(head)) => Ok(Format::LocustHistory),
        _ if has_line(head, gatling::is_header) => Ok(Format::Gatling),
        _ if has_line(head, prometheus::is_header) => Ok(Format::Prometheus),
        _ if has_line(head, ping::is_header) => Ok(Format::Ping),
        _ if has_line(head, windows_ping::is_header) => Ok(Format::WindowsPing),
        _ if smokeping::is_header(first_line(head)) => Ok(Format::Smokeping),
        _ if smokeping::is_other(head) => refuse(
            "this is what rrdtool fetch prints of another database than smokeping's, whose averages are no samples (give what was measured)",
        ),
        _ if has_line(head, fping::is_line) => Ok(Format::Fping),
        _ if mtr::is_header(first_line(head)) => Ok(Format::Mtr),
        _ if has_line(head, mtr::is_head_of_report) => refuse(A_REPORT_OF_MTR),
        _ => match later_log(head) {
            Some(log) => Ok(Format::Access(log)),
            None if has_line(head, looks_like_access_log) => refuse(
                "this looks like an access log (give the format of its lines, such as --log-format 'combined %D')",
            ),
            None => Ok(Format::Csv),
        },
    }
}

fn first_line(head: &[u8]) -> &[u8] {
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or(head);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// By the keys of the first object: text in quotes before a colon.
fn json(text: &[u8]) -> Option<Format> {
    let line = text.split(|&byte| byte == b'\n').find(|line| line.len() > 2).unwrap_or(text);
    let has = |part: &[u8], key: &str| {
        let key = format!("\"{key}\"");
        memchr::memmem::find_iter(part, key.as_bytes())
            .any(|at| part[at + key.len()..].trim_ascii_start().starts_with(b":"))
    };
    let all = |keys: &[&str]| keys.iter().all(|key| has(text, key));
    // A native recording and k6 are recognised by the first line; other objects may span several.
    let is_native = has(line, "schema") && text.starts_with(b"{");
    let formats = [
        (is_native, Format::Native),
        (all(&["type", "prb_id", "result", "timestamp"]), Format::Atlas),
        (text.starts_with(b"[") && all(&["response_times", "num_requests"]), Format::LocustJson),
        (text.starts_with(b"{") && all(&["DurationHistogram", "RetCodes"]), Format::Fortio),
        (
            text.starts_with(b"{") && all(&["count", "fastest", "slowest", "statusCodeDistribution"]),
            Format::Ghz,
        ),
        (text.starts_with(b"{") && has(text, "lighthouseVersion"), Format::Lighthouse),
        (
            text.starts_with(b"{")
                && has(text, "aggregate")
                && (has(text, "summaries") || has(text, "latency")),
            Format::Artillery,
        ),
        (
            memchr::memmem::find(text, b"\"benchmark_http_client.").is_some()
                || all(&["results", "statistics", "pstdev"]),
            Format::Nighthawk,
        ),
        (text.starts_with(b"{") && all(&["metrics", "http_req_duration"]), Format::K6Summary),
        (all(&["entryType", "startTime"]), Format::Timing),
        (text.starts_with(b"{") && first_key(text) == Some(b"log"), Format::Har),
        (text.starts_with(b"{") && all(&["log", "creator", "entries"]), Format::Har),
        (has(line, "type") && has(line, "metric") && has(line, "data"), Format::K6),
        (has(text, "time_total") || has(text, "time_starttransfer"), Format::Curl),
        (all(&["latency", "timestamp", "code"]), Format::Vegeta),
        (all(&["summary", "latencyPercentiles"]), Format::OhaJson),
        (all(&["connections", "pipelining", "latency", "requests"]), Format::Autocannon),
        (all(&["spec", "result", "req2xx", "latency"]), Format::Bombardier),
        (text.starts_with(b"{") && has(text, "resourceSpans"), Format::Otlp),
    ];
    let log =
        || access::detect_json(|key| has(text, key)).filter(|_| text.starts_with(b"{")).map(Format::Access);
    formats.into_iter().find_map(|(is, format)| is.then_some(format)).or_else(log)
}

fn later_log(head: &[u8]) -> Option<AccessFormat> {
    let (_, rest) = head.split_at(memchr::memchr(b'\n', head)? + 1);
    let objects = Some(rest.trim_ascii_start()).filter(|rest| rest.starts_with(b"{"))?;
    match json(objects)? {
        Format::Access(log) => Some(log),
        _ => None,
    }
}

/// Without its quotes and with its escapes.
fn first_key(text: &[u8]) -> Option<&[u8]> {
    let key = text.strip_prefix(b"{")?.trim_ascii_start().strip_prefix(b"\"")?;
    Some(&key[..memchr::memchr(b'"', key)?])
}

fn has_line(head: &[u8], is: fn(&[u8]) -> bool) -> bool {
    head.split(|&byte| byte == b'\n').take(LOOKED_AT).any(is)
}

/// "       Value     Percentile TotalCount 1/(1-Percentile)", also inside the output of wrk2, or as
/// CSV.
fn is_hgrm_header(line: &[u8]) -> bool {
    let has = |word: &[u8]| memchr::memmem::find(line, word).is_some();
    has(b"Value") && has(b"Percentile") && has(b"1/(1-Percentile)")
}

/// The legend of an interval log, or a line whose last field is base64 of a known cookie.
fn is_hlog_line(line: &[u8]) -> bool {
    let Some(histogram) = line.rsplit(|&byte| byte == b',').next() else { return false };
    line.starts_with(b"\"StartTimestamp\"")
        || line.starts_with(b"#[Histogram log format")
        || (line.contains(&b',')
            && (histogram.starts_with(b"HIST") || histogram.starts_with(b"DHIST"))
            && histogram.len() > 16)
}

/// The first message of Go's encoding/gob describes a struct with the name "Result".
fn is_vegeta_gob(head: &[u8]) -> bool {
    let first = &head[..head.len().min(32)];
    memchr::memmem::find(first, b"\x03\x01\x01\x06Result").is_some()
}

/// "1741944413000000000,200,...": nanoseconds since 1970, a status, a latency, bytes out and in,
/// and at least 9 fields, if visible.
fn is_vegeta_csv(head: &[u8]) -> bool {
    let mut lines = head.split(|&byte| byte == b'\n');
    let line = lines.next().unwrap_or(head);
    let is_whole = lines.next().is_some();
    let mut fields = line.split(|&byte| byte == b',');
    let mut is_number_of = |lengths: std::ops::RangeInclusive<usize>| {
        fields
            .next()
            .is_some_and(|field| lengths.contains(&field.len()) && field.iter().all(u8::is_ascii_digit))
    };
    let is_numbers = is_number_of(19..=19)
        && is_number_of(1..=3)
        && is_number_of(1..=19)
        && is_number_of(1..=19)
        && is_number_of(1..=19);
    is_numbers && fields.count() >= if is_whole { 4 } else { 2 }
}

/// `127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 ...`. The request may be any
/// bytes.
fn looks_like_access_log(line: &[u8]) -> bool {
    memchr::memchr_iter(b'[', line).any(|at| {
        let time = &line[at + 1..];
        let is = |at: usize, byte: u8| time.get(at) == Some(&byte);
        time.first().is_some_and(u8::is_ascii_digit)
            && is(2, b'/')
            && is(6, b'/')
            && [11, 14, 17].into_iter().all(|at| is(at, b':'))
            && memchr::memmem::find(time, b"] \"").is_some_and(|end| end < 40)
    })
}

const A_REPORT_OF_MTR: &str = "this is mtr's report, which has no samples (run mtr --raw)";

const ROUND_ROBIN: &str = "this is a round-robin database (of smokeping's, read what this prints: rrdtool fetch FILE AVERAGE -s -1d)";

pub(crate) const EXPECTED: &str = "a native recording, which begins with {\"schema\":\"longhaul.recording/1\"}, CSV with \
                                   a column such as latency_ms, HAR, an HdrHistogram log, Resource Timing, an access log, or \
                                   the output of a tool such as curl, oha, k6, vegeta, JMeter, hey, wrk, Gatling or ping \
                                   (docs/recording.md lists all)";

/// wrk2 prints a page before its percentiles, with a line for each thread.
const LOOKED_AT: usize = 400;

#[cfg(test)]
mod tests {
    use super::*;

    fn format(text: &str) -> Result<Format, String> {
        detect(text.as_bytes(), Path::new("x"), &Options::default()).map_err(|error| error.to_string())
    }

    #[test]
    fn by_content() {
        let cases = [
            ("  {\"schema\":\"longhaul.recording/1\"}\n", Format::Native),
            ("latency_ms\n1\n", Format::Csv),
            ("12.5", Format::Csv),
            ("a,b", Format::Csv),
            ("\n", Format::Csv),
            ("{\n  \"log\": {\n \"version\": \"1.2\"", Format::Har),
            (
                "{\"type\":\"Metric\",\"data\":{\"name\":\"http_reqs\"},\"metric\":\"http_reqs\"}\n",
                Format::K6,
            ),
            ("{\"time_namelookup\":0.1,\"time_total\":0.5}\n", Format::Curl),
            ("{\n  \"certs\": \"\",\n  \"time_total\": 0.5\n}\n", Format::Curl),
            (
                "{\"attack\":\"\",\"seq\":0,\"code\":200,\"timestamp\":\"2025\",\"latency\":1}\n",
                Format::Vegeta,
            ),
            ("{\n \"summary\": {},\n \"latencyPercentiles\": {}}", Format::OhaJson),
            ("[\n {\"name\": \"x\", \"entryType\" : \"resource\", \"startTime\": 1}]", Format::Timing),
            (
                "{\"ts\":1.5,\"request\":{},\"duration\":0.1,\"status\":200}\n",
                Format::Access(AccessFormat::Caddy),
            ),
            (
                "0.1,\"status\":200}\n{\"ts\":1.5,\"request\":{},\"duration\":0.1,\"status\":200}\n",
                Format::Access(AccessFormat::Caddy),
            ),
            (
                "{\"logger\":\"tls\"}\n{\"ts\":1.5,\"request\":{},\"duration\":0.1,\"status\":200}\n",
                Format::Access(AccessFormat::Caddy),
            ),
            ("[[{\"name\":\"x\",\"entryType\":\"resource\",\"startTime\":1}]]", Format::Timing),
            ("request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status\n", Format::OhaCsv),
            ("request-start,DNS,DNS+dialup,request-duration,bytes,status\n", Format::OhaCsv),
            ("1741944413000000000,200,12345678,0,5,,b2s=,,0,GET,http://x/,\n", Format::VegetaCsv),
            ("1741944413000000000,0,12345678,0,0,refused,,,0\n", Format::VegetaCsv),
            ("1741944413000000000,200,12345678,0,5,,b2s", Format::VegetaCsv),
            ("metric_name,timestamp,metric_value,check,extra_tags\n", Format::K6Csv),
            ("timeStamp,elapsed,label,responseCode\r\n", Format::JmeterCsv),
            ("<?xml version=\"1.0\"?>\n<testResults version=\"1.2\">\n", Format::JmeterXml),
            (
                "{\"time\":\"x\",\"status\":200,\"request_time\":0.005}\n",
                Format::Access(AccessFormat::NginxJson),
            ),
            ("1741944413000000000,200\n", Format::Csv),
            ("       Value     Percentile TotalCount 1/(1-Percentile)\n", Format::Hgrm),
            ("#[Histogram log format version 1.3]\n", Format::Hlog),
            ("0.127,1.007,2.769,HISTFAAAAEV42pNpmSzMwMCgyAABTBDKT4GBgdnNYMcC\n", Format::Hlog),
            ("0.000,1.000,693.500,DHISTwAAAAMAAAAAAAAgAByEkxQAAAGaeNotkbFKA0EQ\n", Format::Hlog),
        ];
        for (text, expected) in cases {
            assert_eq!(format(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_nothing_of_these() {
        for (text, expected) in [
            ("[1, 2]", "JSON array"),
            ("{\"a\":1}", "JSON of nothing known, with the key \"a\""),
            ("{\"a\":{\"b\":1},\"c\": [1, {\"d\": \"}\"}], \"e", "with the keys \"a\", \"c\""),
            (
                "Nighthawk - A layer 7 protocol benchmarking tool.\n\nbenchmark_http_client.latency_2xx (3 samples)\n",
                "--output-format json",
            ),
            ("This is ApacheBench, Version 2.3 <$Revision: 1 $>\nConcurrency Level:      1\n", "ab -g FILE"),
            ("Bombarding http://a.example for 10s using 125 connection(s)\n", "bombardier prints"),
            ("Requests      [total, rate, throughput]  100, 101.01, 100.9\n", "vegeta encode --to csv"),
            ("running (10s)\n     http_req_duration..............: avg=10ms min=1ms\n", "k6 prints"),
            (
                "Fortio 1.6 running at 8 queries per second\n# range, mid point, percentile, count\n",
                "-json FILE",
            ),
            (
                "Running 10s test @ http://a.example\n10 connections\n\n\u{250c}\n\u{2502} Stat    \u{2502}\n",
                "autocannon prints",
            ),
            ("http.requests: ...... 5\nhttp.response_time:\n  min: 1\n", "artillery prints"),
            ("=====\n---- Global Information --------\n> request count 5\n", "simulation.log"),
            (
                "summary =   2802 in 00:00:06 =  433.7/s Avg:    66 Min:     9 Max:  1053 Err:     0 (0.00%)\n",
                "-l FILE",
            ),
            ("Type     Name   # reqs      # fails |    Avg     Min     Max\n", "Locust prints"),
            ("Summary:\n  Success rate:\t100.00%\n  Requests/sec:\t5\n", "oha prints"),
            ("\nSummary:\n  Count:\t200\n  Slowest:\t18 ms\n  Requests/sec:\t5\n", "ghz prints"),
            ("\nSummary:\n  Total:\t0.5 secs\n  Slowest:\t0.1 secs\n  Requests/sec:\t400\n", "hey prints"),
            ("traceroute to a.example (192.0.2.1), 30 hops max, 60 byte packets\n", "mtr --raw"),
            (
                "traceroute: Warning: a.example has multiple addresses; using 192.0.2.1\ntraceroute to a.example (192.0.2.1), 64 hops max\n",
                "mtr --raw",
            ),
            (" 1?: [LOCALHOST]                                         pmtu 1500\n", "mtr --raw"),
            (
                "2024-03-12\t15:22:28\tCDG50-P2\t703\t192.0.2.1\tGET\ta.cloudfront.net\t/\t200\n",
                "CloudFront's log without its #Fields line",
            ),
            ("1741944600000,12,home,200,OK,t,text,true,5\n", "JMeter's CSV without its header row"),
            ("\u{1b}[0;34m   4,HTTP/1.1,200,  0.36,   3372,/,0,2015-12-20 21:30:13\u{1b}[0m\n", "siege"),
            ("HTTP/1.1 200     0.36 secs:    3372 bytes ==> GET  /\n", "siege"),
            (
                "2017-08-18 17:23:41,964 INFO o.a.j.u.JMeterUtils: Setting Locale to en_US\n2017-08-18 17:23:41,974 INFO x: y\n",
                "a program's log of messages",
            ),
            (
                "2022/04/02 13:39:51 [error] 8#8: *6631 connect() failed, client: 192.0.2.1\n",
                "log of messages",
            ),
            ("time=\"2024-01-15T18:43:09Z\" level=debug msg=\"x\"\n", "log of messages"),
            (
                "label,responseCode,responseMessage,threadName,success\n",
                "JMeter's CSV without the column elapsed",
            ),
            ("1482159938.776\t\t110010\t100\t20\t30000\t79890\t0\t80\t512\t0\t200\n", "phout of Yandex.Tank"),
            ("onInputData({\"log\": {\"entries\": []}})\n", "JSON within a call"),
            ("2021-11-12T16:59:46Z 192.0.2.1 {\"time_elapsed\": 5}\n", "JSON after a prefix"),
            ("<?xml version=\"1.0\"?>\n<testsuites>\n<testsuite name=\"a\">\n", "JUnit"),
            ("<FinalStatus><TestDuration>1</TestDuration>\n", "Taurus"),
            (
                "Start: 2025-03-14T09:26:53+0000\nHOST: a     Loss%   Snt   Last   Avg  Best  Wrst StDev\n",
                "mtr --raw",
            ),
            ("<html>", "HTML or XML"),
            ("{\"record\":{\"key\":{},\"metrics\":{}}}", "this is CrUX"),
            (
                "[{\"origin\":\"https://a.example\",\"fcp\":{\"histogram\":{\"bin\":[{\"start\":0,\"end\":100,\"density\":0.1}]}}}]",
                "this is CrUX",
            ),
            // A message of 127 bytes, of the type -65, as Go's documentation takes one apart.
            ("\x7f\u{3}\x01\x01\x06Result\x01", "vegeta encode --to json"),
            ("", "the file is empty"),
            ("PK\x03\x04", "zip file"),
            ("<a:b c=\"d\">", "HTML or XML, <a:b>"),
            ("<testResult", "HTML or XML"),
            (
                "192.0.2.1 - - [17/Oct/2023:05:57:49 +1100] \"\\x16\\x03\\x01\" 400 226 \"-\" \"-\"\n",
                "--log-format",
            ),
            ("192.0.2.1 - - [17/Oct/2023:05:57:49 +1100] \"CONNECT a:25 HTTP/1.1\" 400 2\n", "--log-format"),
            ("::1 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 5\n", "--log-format"),
            ("::1 - - [10/Oct/2000:13:55:36 -0700] \"GET http://a/ HTTP/1.1\" 200 5\n", "--log-format"),
        ] {
            let said = format(text).unwrap_err();
            assert!(said.contains(expected), "{text}: {said}");
        }
    }
}
