//! Access logs of AWS's Application and Classic Load Balancers.
//!
//! Three times in seconds: until the request was sent to the target, until the target began its
//! response, and until the response was started to the client. -1 means no response of the target:
//! then a status of 500 and more and 460 (the client left) are failures.

use super::{
    Parser, Problem, Taken,
    fields::{Escapes, Fields, departs, instant, number, request, whole},
    format::Stamped,
};
use crate::{Metric, Sample, Unit};

pub(super) struct Elb;

/// An Application Load Balancer has the type before them.
#[derive(Clone, Copy)]
struct Columns {
    kind: Option<usize>,
    time: usize,
    first_duration: usize,
    status: usize,
    request: usize,
    created: Option<usize>,
}

const CLASSIC: Columns =
    Columns { kind: None, time: 0, first_duration: 4, status: 7, request: 11, created: None };
const APPLICATION: Columns =
    Columns { kind: Some(0), time: 1, first_duration: 5, status: 8, request: 12, created: Some(21) };

pub(super) const TYPES: [&[u8]; 6] = [b"http", b"https", b"h2", b"grpcs", b"ws", b"wss"];

impl Parser for Elb {
    fn take(&mut self, line: &[u8], found: &mut Fields<'_>) -> Result<Taken, Problem> {
        found.escapes = Escapes::Backslash;
        let values = split(line);
        let columns = match values.first() {
            Some(&(_, first)) if TYPES.contains(&first) => APPLICATION,
            _ => CLASSIC,
        };
        let get = |index: usize| values.get(index).copied().unwrap_or((line.len(), &[]));
        let wrong = |(at, _): (usize, &[u8]), expected: &str| departs(at, &line[at..], expected.to_owned());
        if values.len() <= columns.request {
            return Err(wrong(get(values.len()), "12 values and more, as a load balancer writes them"));
        }
        let written = get(columns.time);
        let (ns, resolution_ns) = std::str::from_utf8(written.1)
            .ok()
            .and_then(instant)
            .ok_or_else(|| wrong(written, "a time such as 2018-07-02T22:23:00.186641Z"))?;
        let created = columns.created.and_then(|index| std::str::from_utf8(get(index).1).ok());
        match created.and_then(instant) {
            Some((ns, resolution_ns)) => found.moment(ns, resolution_ns, Stamped::Start),
            // A Classic Load Balancer writes the arrival of the request.
            None if columns.kind.is_none() => found.moment(ns, resolution_ns, Stamped::Start),
            None => found.moment(ns, resolution_ns, Stamped::End),
        }
        let status = get(columns.status);
        found.sample.status = whole(status.1, "an HTTP status", "the load balancer")
            .map_err(|expected| wrong(status, &expected))?;
        if found.sample.status.is_none() && columns.kind.is_none() {
            // A listener for TCP.
            return Ok(Taken::Other);
        }
        durations([0, 1, 2].map(|index| get(columns.first_duration + index)), found)
            .map_err(|value| wrong(value, "seconds such as 0.086, or -1"))?;
        let target = get(columns.status + 1);
        fail(&mut found.sample, target.1);
        let sent = get(columns.status + 3);
        found.sample.bytes_out =
            whole(sent.1, "a number of bytes", "sent_bytes").map_err(|expected| wrong(sent, &expected))?;
        request(get(columns.request).1, found);
        found.label("user_agent", get(columns.request + 1).1);
        found.label("elb", get(columns.time + 1).1);
        found.label("target", get(columns.time + 3).1);
        found.label("target_status", target.1);
        if let Some(kind) = columns.kind {
            found.label("type", get(kind).1);
        }
        Ok(Taken::Request)
    }
}

/// An error is the value that is not a time.
fn durations<'l>(values: [(usize, &'l [u8]); 3], found: &mut Fields<'_>) -> Result<(), (usize, &'l [u8])> {
    let mut sum = Some(0.0);
    for (metric, (at, value)) in [Metric::Send, Metric::Wait, Metric::Load].into_iter().zip(values) {
        if matches!(value, b"-1" | b"-" | b"-1.0") {
            sum = None;
            continue;
        }
        let seconds = number(value).ok_or((at, value))?;
        let ms = Unit::S.milliseconds(seconds).ok_or((at, value))?;
        found.duration(metric, ms);
        sum = sum.map(|sum: f64| sum + seconds);
    }
    if let Some(ms) = sum.and_then(|sum| Unit::S.milliseconds((sum * 1e6).round() / 1e6)) {
        found.duration(Metric::Latency, ms);
    }
    Ok(())
}

fn fail(sample: &mut Sample, target_status: &[u8]) {
    let status = sample.status.unwrap_or(0);
    let is_unanswered = status >= 500 && matches!(target_status, b"-" | b"") && sample.latency_ns.is_none();
    if status == 460 {
        sample.error = Some("the client closed the connection (460)".to_owned());
    } else if is_unanswered {
        sample.error = Some(format!("no response of the target ({status})"));
    }
}

fn split(line: &[u8]) -> Vec<(usize, &[u8])> {
    let mut values = Vec::with_capacity(32);
    let mut at = 0;
    while at < line.len() && values.len() < MOST {
        let rest = &line[at..];
        let (from, length, behind) = match rest {
            [b' ', ..] => {
                at += 1;
                continue;
            }
            [b'"', quoted @ ..] => {
                let is_end = |&at: &usize| {
                    // A user agent may contain a quote, which a blank or the end does not follow.
                    matches!(quoted.get(at + 1), None | Some(b' '))
                        && quoted[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0
                };
                let end = memchr::memchr_iter(b'"', quoted).find(is_end).unwrap_or(quoted.len());
                (1, end, 1)
            }
            _ => (0, memchr::memchr(b' ', rest).unwrap_or(rest.len()), 0),
        };
        values.push((at + from, &rest[from..from + length]));
        at += from + length + behind;
    }
    values
}

const MOST: usize = 64;

#[cfg(test)]
mod tests {
    use crate::{
        AccessFormat, Format, Metric,
        read::json::testing::{phases, read},
    };

    const APPLICATION: &str = r#"https 2018-07-02T22:23:00.186641Z app/my-loadbalancer/50dc6c495c0c9188 192.168.131.39:2817 10.0.0.1:80 0.086 0.048 0.037 200 200 0 57 "GET https://www.example.com:443/a?b=c HTTP/1.1" "curl/7.46.0" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 arn:aws:elasticloadbalancing:us-east-2:123456789012:targetgroup/my-targets/73e2d6bc24d8a067 "Root=1-58337281-1d84f3d73c47ec4e58577259" "www.example.com" "arn:aws:acm:us-east-2:123456789012:certificate/1" 1 2018-07-02T22:22:48.364000Z "authenticate,forward" "-" "-" "10.0.0.1:80" "200" "-" "-""#;
    const CLASSIC: &str = r#"2015-05-13T23:39:43.945958Z my-loadbalancer 192.168.131.39:2817 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 0 29 "GET http://www.example.com:80/ HTTP/1.1" "curl/7.38.0" - -"#;

    #[test]
    fn an_application_load_balancer() {
        let kept = read(format!("{APPLICATION}\n")).unwrap();
        assert_eq!(kept.format, Some(Format::Access(AccessFormat::Elb)));
        let sample = &kept.samples[0];
        assert_eq!(phases(sample), [-1.0, -1.0, -1.0, 86.0, 48.0, 37.0]);
        assert_eq!((sample.latency_ns, sample.get(Metric::Ttfb)), (Some(171_000_000), Some(134_000_000)));
        // date -u -d 2018-07-02T22:22:48Z +%s: the arrival of the request.
        assert_eq!(sample.started_ns, Some(1_530_570_168_364_000_000));
        assert_eq!((sample.status, sample.bytes_out, &sample.error), (Some(200), Some(57), &None));
        for (name, value) in [
            ("method", "GET"),
            ("path", "/a"),
            ("type", "https"),
            ("target", "10.0.0.1:80"),
            ("user_agent", "curl/7.46.0"),
        ] {
            assert_eq!(sample.label(name).as_deref(), Some(value), "{name}");
        }
    }

    #[test]
    fn a_classic_load_balancer() {
        let kept = read(format!("{CLASSIC}\n")).unwrap();
        let sample = &kept.samples[0];
        assert_eq!((sample.latency_ns, sample.wait_ns), (Some(1_178_000), Some(1_048_000)));
        assert_eq!(sample.started_ns, Some(1_431_560_383_945_958_000));
        let tcp = r#"2015-05-13T23:39:43.945958Z my-loadbalancer 192.168.131.39:2817 10.0.0.1:80 0.001069 0.000028 0.000041 - - 82 305 "- - - " "-" - -"#;
        let kept = read(format!("{CLASSIC}\n{tcp}\n")).unwrap();
        assert_eq!(kept.samples.len(), 1);
        assert_eq!(kept.warnings.last().unwrap(), "1 line without a request left out.");
    }

    #[test]
    fn a_target_without_a_response() {
        let line = |times: &str, status: &str| {
            APPLICATION.replace("0.086 0.048 0.037", times).replace("200 200 0 57", &format!("{status} 0 57"))
        };
        for (times, status, error) in [
            ("0.001 -1 -1", "504 -", Some("no response of the target (504)")),
            ("-1 -1 -1", "503 -", Some("no response of the target (503)")),
            ("-1 -1 -1", "460 -", Some("the client closed the connection (460)")),
            ("-1 -1 -1", "301 -", None),
            ("0.001 0.002 0.000", "502 502", None),
        ] {
            let kept = read(line(times, status) + "\n").unwrap();
            assert_eq!(kept.samples[0].error.as_deref(), error, "{status}");
            assert_eq!(kept.samples[0].latency_ns.is_some(), !times.contains("-1"), "{times}");
        }
    }

    #[test]
    fn lines_that_are_broken() {
        let text = format!("{APPLICATION}\n{}\n{APPLICATION}\n", APPLICATION.replace("0.048", "fast"));
        let kept = read(&text).unwrap();
        assert_eq!(kept.numbers, [1, 3]);
        let expected = "1 line is left out; it is line 2, column 110: found \"fast 0.037 200 200";
        assert!(kept.warnings[0].starts_with(expected), "{:?}", kept.warnings);
        let said = read("https 2018-07-02T22:23:00.186641Z app/a/5 1.2.3.4:1\n").unwrap_err();
        assert!(said.contains("expected 12 values and more"), "{said}");
        let network = "tls 2.0 2018-12-20T02:59:40 net/my-network-loadbalancer/c6 g3d\n";
        assert!(read(network).unwrap_err().contains("Network Load Balancer"));
        let kept = read(APPLICATION.replace("curl/7.46.0", "a \"b\"c d") + "\n").unwrap();
        assert_eq!(kept.samples[0].label("user_agent").as_deref(), Some("a \"b\"c d"));
    }

    proptest::proptest! {
        #[test]
        fn garbled_lines_never_panic(bytes in crate::read::json::testing::damaged(APPLICATION)) {
            drop(read(bytes));
        }
    }
}
