//! Reads the output of fping: with `-l` or `-c` a line for each reply, with `-C N -q` a line for
//! each host.
//!
//! A request without a reply failed. `-D` stamps a reply, so the start is a round trip before.

use super::{Frame, Input, Options, json::label, lines::Lines, number};
use crate::{Error, Event, Sample, Sink, Unit, error::counted, unit::nanoseconds};

pub(super) fn is_line(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    matches!(Line::of(&text), Some(Line::One { .. } | Line::Host { .. }))
}

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let mut lines = Lines::new(input.reader, input.path);
    let mut sample = Sample::default();
    let (mut repeated, mut others) = (0, 0);
    while let Some(line) = lines.next()? {
        let (number, is_whole) = (line.number, line.terminated);
        let text = String::from_utf8_lossy(line.text);
        let mut hand_over = |host: &str, stamp: Option<&str>, reply: Option<f64>| {
            sample.latency_ns = reply.map(nanoseconds);
            let stamp = stamp.and_then(|stamp| number::nanoseconds(stamp.as_bytes(), Unit::S));
            sample.started_ns = stamp.and_then(|stamp| stamp.checked_sub(sample.latency_ns.unwrap_or(0)));
            sample.error = reply.is_none().then(|| "no reply".to_owned());
            label(&mut sample, &options.labels, "host", Some(host));
            sink.event(&Event { number, sample: &sample, exact: &[] })
        };
        match Line::of(&text) {
            Some(Line::One { is_repeated: true, .. }) => repeated += 1,
            Some(Line::One { host, stamp, reply, .. }) => hand_over(host, stamp, reply)?,
            Some(Line::Host { host, replies }) => {
                for reply in replies.split_ascii_whitespace() {
                    hand_over(host, None, number::parse(reply.as_bytes()))?;
                }
            }
            Some(Line::Sum) => {}
            None if text.trim().is_empty() || !is_whole => {}
            None => others += 1,
        }
    }
    let mut warnings = Vec::new();
    if repeated > 0 {
        warnings.push(format!("{} of replies left out.", counted(repeated, "repetition")));
    }
    if others > 0 {
        warnings.push(format!("{} without an reply or a loss skipped.", counted(others, "line")));
    }
    Ok(Frame { warnings, ..Frame::default() })
}

#[derive(Debug, PartialEq)]
enum Line<'l> {
    // "[1741944413.70093] a.example : [0], 64 bytes, 0.035 ms (0.035 avg, 0% loss)", or "a.example
    // : [1], timed out (...)".
    One { host: &'l str, stamp: Option<&'l str>, reply: Option<f64>, is_repeated: bool },
    // "a.example : 0.025 - 0.028".
    Host { host: &'l str, replies: &'l str },
    // "a.example : xmt/rcv/%loss = 3/3/0%, min/avg/max = 0.018/0.031/0.041".
    Sum,
}

impl<'l> Line<'l> {
    fn of(line: &'l str) -> Option<Self> {
        let stamp = line.strip_prefix('[').and_then(|line| line.split_once("] "));
        let (stamp, rest) = stamp.map_or((None, line), |(stamp, rest)| (Some(stamp), rest));
        let (host, rest) = rest.split_once(" : ")?;
        let host = host.trim_end();
        if rest.starts_with("xmt/rcv/%loss = ") {
            return Some(Self::Sum);
        }
        let is_host = !host.is_empty() && !host.contains([' ', ',', '{']);
        if let Some((sequence, rest)) = rest.strip_prefix('[').and_then(|rest| rest.split_once("], ")) {
            let is_number = !sequence.is_empty() && sequence.bytes().all(|byte| byte.is_ascii_digit());
            let reply = match rest.starts_with("timed out") {
                true => None,
                false => {
                    let (_, time) = rest.split_once(" bytes, ")?;
                    let (time, _) = time.split_once(" ms")?;
                    Some(number::parse(time.as_bytes())?)
                }
            };
            let is_repeated = rest.contains("duplicate");
            return (is_number && is_host).then_some(Self::One { host, stamp, reply, is_repeated });
        }
        let is_reply = |reply: &str| reply == "-" || number::parse(reply.as_bytes()).is_some();
        let is_replies = !rest.trim().is_empty() && rest.split_ascii_whitespace().all(is_reply);
        (is_replies && is_host).then_some(Self::Host { host, replies: rest })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Format, read::json::testing::read};

    #[test]
    fn a_line_for_each_reply() {
        let text = "[1741944413.70093] a.example : [0], 64 bytes, 0.093 ms (0.035 avg, 0% loss)\n[1741944414.70194] a.example : [1], timed out (0.035 avg, 50% loss)\n\na.example : xmt/rcv/%loss = 2/1/50%, min/avg/max = 0.093/0.093/0.093\n";
        let kept = read(text).unwrap();
        assert_eq!((kept.format, &kept.numbers[..]), (Some(Format::Fping), &[1, 2][..]));
        assert_eq!(kept.samples[0].latency_ns, Some(93_000));
        assert_eq!(kept.samples[0].started_ns, Some(1_741_944_413_700_837_000));
        assert_eq!(kept.samples[0].labels["host"], "a.example");
        assert_eq!(kept.samples[1].error.as_deref(), Some("no reply"));
        assert_eq!(kept.samples[1].started_ns, Some(1_741_944_414_701_940_000));
        assert!(kept.warnings.is_empty(), "{:?}", kept.warnings);
    }

    #[test]
    fn a_line_for_each_host() {
        let kept = read("a.example   : 0.025 - 0.028\nb.example : - - 3.5\nnot a line of fping\n").unwrap();
        let seen: Vec<_> = kept
            .samples
            .iter()
            .map(|sample| (sample.labels["host"].as_str(), sample.latency_ns, sample.error.is_some()))
            .collect();
        let [a, b] = ["a.example", "b.example"];
        assert_eq!(
            seen,
            [
                (a, Some(25_000), false),
                (a, None, true),
                (a, Some(28_000), false),
                (b, None, true),
                (b, None, true),
                (b, Some(3_500_000), false)
            ]
        );
        assert_eq!(kept.warnings, ["1 line without an reply or a loss skipped."]);
    }
}
