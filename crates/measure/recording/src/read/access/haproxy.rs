//! HAProxy's HTTP log (`option httplog`), with or without the prefix of syslog.
//!
//! The five times are `TR/Tw/Tc/Tr/Ta` in milliseconds, up to version 1.6 `Tq/Tw/Tc/Tr/Tt`. -1 is a
//! phase that was not reached. With a `+` before the last (`option logasap`) the response was not
//! complete: then there is no latency.

use super::{
    Parser, Problem, Taken,
    clock::Clock,
    fields::{Escapes, Fields, departs, request},
    format::Stamped,
};
use crate::{Metric, unit::nanoseconds};

pub(super) struct Haproxy {
    clock: Clock,
    unfinished: u64,
}

struct Parts<'l> {
    frontend: &'l str,
    backend: &'l str,
    server: &'l str,
    times: &'l str,
    status: &'l str,
    bytes: &'l str,
    state: &'l str,
    queues: &'l str,
}

impl Haproxy {
    pub fn new() -> Self {
        let clock =
            Clock::new("%d/%b/%Y:%H:%M:%S.%f", "06/Feb/2009:12:14:14.655").expect("the pattern is known");
        Self { clock, unfinished: 0 }
    }

    /// The moment in brackets, and where the text after it begins; `None` for another message.
    fn moment(&self, line: &[u8]) -> Option<(u64, usize)> {
        memchr::memchr_iter(b'[', line).find_map(|at| {
            let (ns, length) = self.clock.read(&line[at + 1..])?;
            let end = at + 1 + length;
            line[end..].starts_with(b"] ").then_some((ns, end + 2))
        })
    }
}

pub(super) fn is_line(line: &[u8]) -> bool {
    let haproxy = Haproxy::new();
    let Some((_, at)) = haproxy.moment(line) else { return false };
    let Ok(text) = std::str::from_utf8(line.get(at..).unwrap_or_default()) else { return false };
    parts(text).is_some_and(|parts| parts.times.split('/').count() == 5)
}

fn parts(text: &str) -> Option<Parts<'_>> {
    let mut words = text.split(' ');
    let frontend = words.next()?;
    let (backend, server) = words.next()?.split_once('/')?;
    let times = words.next()?;
    let (status, bytes) = (words.next()?, words.next()?);
    // Captured cookies of the request and the response.
    let (_, _) = (words.next()?, words.next()?);
    let (state, _, queues) = (words.next()?, words.next()?, words.next()?);
    let is_times = times.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'/' | b'-' | b'+'));
    let is_queues = queues.split('/').count() == 2;
    (is_times && is_queues).then_some(Parts {
        frontend,
        backend,
        server,
        times,
        status,
        bytes,
        state,
        queues,
    })
}

impl Parser for Haproxy {
    fn take(&mut self, line: &[u8], found: &mut Fields<'_>) -> Result<Taken, Problem> {
        found.escapes = Escapes::None;
        // A message such as "Server static/srv1 is DOWN", or a line of a TCP log.
        let Some((ns, at)) = self.moment(line) else { return Ok(Taken::Other) };
        let rest = &line[at..];
        let text = String::from_utf8_lossy(rest);
        let wrong = |expected: &str| departs(at, rest, expected.to_owned());
        let Some(parts) = parts(&text) else { return Ok(Taken::Other) };
        let times: Vec<&str> = parts.times.split('/').collect();
        let &[receive, queue, connect, response, total] = times.as_slice() else { return Ok(Taken::Other) };
        let is_unfinished = total.starts_with('+');
        let total = total.strip_prefix('+').unwrap_or(total);
        let mut phases = [None; 5];
        for (phase, text) in phases.iter_mut().zip([receive, queue, connect, response, total]) {
            *phase = milliseconds(text)
                .ok_or_else(|| wrong("five times in milliseconds such as 10/0/30/69/109"))?;
        }
        let [receive, queue, connect, response, total] = phases;
        for (metric, value) in [(Metric::Send, receive), (Metric::Connect, connect), (Metric::Wait, response)]
        {
            if let Some(ms) = value {
                found.duration(metric, ms);
            }
        }
        if let (Some(receive), Some(queue), Some(connect), Some(response)) =
            (receive, queue, connect, response)
        {
            // The time in queues is a part of the ttfb, but no phase.
            let ttfb = receive + queue + connect + response;
            found.exact.push((Metric::Ttfb, ttfb));
            found.sample.stated_ns.insert(Metric::Ttfb, nanoseconds(ttfb));
            if let Some(total) = total.filter(|total| *total >= ttfb && !is_unfinished) {
                found.duration(Metric::Load, total - ttfb);
            }
        }
        if is_unfinished {
            self.unfinished += 1;
        } else if let Some(total) = total {
            found.duration(Metric::Latency, total);
        }
        found.moment(ns, 1_000_000, Stamped::Start);
        found.sample.status = match parts.status {
            "-1" => None,
            status => Some(status.parse().map_err(|_| wrong("an HTTP status after the times, or -1"))?),
        };
        let bytes = parts.bytes.strip_prefix('+').unwrap_or(parts.bytes);
        found.sample.bytes_out =
            Some(bytes.parse().map_err(|_| wrong("a number of bytes after the status"))?);
        fail(&parts, found);
        found.label("frontend", parts.frontend.trim_end_matches('~').as_bytes());
        found.label("backend", parts.backend.as_bytes());
        found.label("server", parts.server.as_bytes());
        found.label("state", parts.state.as_bytes());
        found.label("queues", parts.queues.as_bytes());
        // Quotes within captured headers are written as #22.
        if let Some(begin) = memchr::memchr(b'"', rest) {
            let quoted = &rest[begin + 1..];
            // The end of a long request is missing.
            let end = memchr::memchr(b'"', quoted).unwrap_or(quoted.len());
            request(&quoted[..end], found);
        }
        Ok(Taken::Request)
    }

    fn warnings(&self, _: &Fields<'_>) -> Vec<String> {
        let mut warnings = vec!["HAProxy's times of day have no zone; they count as UTC.".to_owned()];
        if self.unfinished > 0 {
            warnings.push(format!(
                "{} written before the end of the response (option logasap): they have a ttfb and no latency.",
                crate::error::counted(self.unfinished, "line")
            ));
        }
        warnings
    }
}

/// `None` if it was not reached. The outer `None` is something else.
fn milliseconds(text: &str) -> Option<Option<f64>> {
    match text.strip_prefix('-') {
        Some("1") => Some(None),
        Some(_) => None,
        None => Some(Some(f64::from(text.parse::<u32>().ok()?))),
    }
}

/// A client that left got no response, and a response that was cut off in its body (`D`) is a
/// failure; a 503 of HAProxy is a response.
fn fail(parts: &Parts<'_>, found: &mut Fields<'_>) {
    let state = parts.state;
    let mut letters = state.bytes();
    match (letters.next(), letters.next()) {
        (Some(b'C'), _) => found.fail(format!("the client closed the connection ({state})")),
        (Some(b'c'), _) => found.fail(format!("the client timed out ({state})")),
        (Some(b'S' | b's' | b'P' | b'R' | b'I' | b'K' | b'D'), Some(b'D')) => {
            found.fail(format!("the response ended early ({state})"));
        }
        _ if parts.status == "-1" => found.fail(format!("no response ({state})")),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        AccessFormat, Format, Metric,
        read::json::testing::{phases, read},
    };

    const LINE: &str = r#"Feb  6 12:14:14 localhost haproxy[14389]: 10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in~ static/srv1 10/5/30/69/121 200 2750 - - ---- 1/1/1/1/0 0/0 {a #22b#22 c|} {} "GET /index.html?x=1 HTTP/1.1""#;

    #[test]
    fn phases_of_a_request() {
        let kept = read(format!("{LINE}\n")).unwrap();
        assert_eq!(kept.format, Some(Format::Access(AccessFormat::Haproxy)));
        let sample = &kept.samples[0];
        assert_eq!(phases(sample), [-1.0, 30.0, -1.0, 10.0, 69.0, 7.0]);
        assert_eq!((sample.latency_ns, sample.get(Metric::Ttfb)), (Some(121_000_000), Some(114_000_000)));
        // date -u -d "2009-02-06 12:14:14" +%s
        assert_eq!(sample.started_ns, Some(1_233_922_454_655_000_000));
        assert_eq!((sample.status, sample.bytes_out), (Some(200), Some(2750)));
        for (name, value) in [
            ("frontend", "http-in"),
            ("backend", "static"),
            ("server", "srv1"),
            ("path", "/index.html"),
            ("method", "GET"),
        ] {
            assert_eq!(sample.label(name).as_deref(), Some(value), "{name}");
        }
        assert!(kept.warnings[0].contains("count as UTC"), "{:?}", kept.warnings);
    }

    /// Written by HAProxy 2.6, without syslog.
    #[test]
    fn what_was_not_reached() {
        let lines = "127.0.0.1:56980 [28/Nov/2026:17:23:46.859] web web/<NOSRV> -1/-1/-1/-1/0 400 0 - - PR-- 1/1/0/0/0 0/0 \"<BADREQ>\"\n\
                     127.0.0.1:57004 [28/Nov/2026:17:23:51.290] web dead/none 0/0/-1/-1/1505 503 217 - - SC-- 1/1/0/0/3 0/0 {curl/7.88.1} \"GET /dead HTTP/1.1\"\n\
                     127.0.0.1:57004 [28/Nov/2026:17:23:52.290] web app/one 0/0/0/-1/2000 -1 0 - - CH-- 1/1/0/0/3 0/0 {curl/7.88.1} \"GET /gone HTTP/1.1\"\n\
                     127.0.0.1:57004 [28/Nov/2026:17:23:53.290] web app/one 0/0/0/3/2000 200 900 - - sD-- 1/1/0/0/3 0/0 {curl/7.88.1} \"GET /part HTTP/1.1\"\n";
        let samples = read(lines).unwrap().samples;
        let errors: Vec<_> = samples.iter().map(|sample| sample.error.as_deref()).collect();
        assert_eq!(
            errors,
            [
                None,
                None,
                Some("the client closed the connection (CH--)"),
                Some("the response ended early (sD--)")
            ]
        );
        assert_eq!(
            (samples[1].latency_ns, samples[1].connect_ns, samples[1].wait_ns),
            (Some(1_505_000_000), None, None)
        );
        assert_eq!((samples[1].status, samples[2].status), (Some(503), None));
    }

    #[test]
    fn lines_before_the_end_of_the_response() {
        let kept = read(LINE.replace("/121 200 2750", "/+114 200 +2750") + "\n").unwrap();
        let sample = &kept.samples[0];
        assert_eq!(
            (sample.latency_ns, sample.get(Metric::Ttfb), sample.load_ns),
            (None, Some(114_000_000), None)
        );
        assert!(kept.warnings.iter().any(|warning| warning.starts_with("1 line written before the end")));
    }

    #[test]
    fn other_lines() {
        let tcp = "10.0.1.2:33313 [06/Feb/2009:12:12:51.443] fnt bck/srv1 0/0/5007 212 -- 0/0/0/0/3 0/0";
        let text = format!(
            "Server static/srv1 is UP\n{LINE}\n{tcp}\n{}\n{LINE}\n",
            LINE.replace("200 2750", "2x0 2750")
        );
        let kept = read(&text).unwrap();
        assert_eq!(kept.numbers, [2, 5]);
        assert!(kept.warnings[0].starts_with("1 line is left out; it is line 4"), "{:?}", kept.warnings);
        assert_eq!(kept.warnings.last().unwrap(), "2 lines without a request left out.");
    }

    proptest::proptest! {
        #[test]
        fn garbled_lines_never_panic(bytes in crate::read::json::testing::damaged(LINE)) {
            drop(read(bytes));
        }
    }
}
