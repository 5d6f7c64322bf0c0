//! Reads the output of ping of iputils, BSD, macOS and busybox: a line for each reply, with `-D`
//! its time.
//!
//! Requests without a reply are known by their number or by the count at the end. `-D` stamps a
//! reply, so the start is a round trip before. A second reply to a request is left out.

use std::io::Read;

use super::{Frame, Input, Labels, Options, json::label, lines::Lines, number, summary::failures};
use crate::{Error, Event, Sample, Sink, Unit, error::counted, unit::nanoseconds};

/// "PING a.example (192.0.2.1) 56(84) bytes of data.", "PING6(56=40+8+8 bytes) ::1 --> ::1" of BSD
/// and macOS, or a reply.
pub(super) fn is_header(line: &[u8]) -> bool {
    let has = |text: &[u8]| memchr::memmem::find(line, text).is_some();
    (line.starts_with(b"PING ") && (has(b" bytes of data") || has(b" data bytes")))
        || (line.starts_with(b"PING6(") && has(b" bytes) "))
        || (line.first().is_some_and(|&byte| byte.is_ascii_digit() || byte == b'[')
            && Reply::of(&String::from_utf8_lossy(line)).is_some())
}

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let mut lines = Lines::new(input.reader, input.path);
    let mut run = Run {
        sink,
        labels: &options.labels,
        sample: Sample::default(),
        requests: Requests::default(),
        lost: 0,
        unreachable: 0,
        repeated: 0,
    };
    while let Some(line) = lines.next()? {
        let (number, is_whole) = (line.number, line.terminated);
        let text = String::from_utf8_lossy(line.text).into_owned();
        run.take(number, &text, is_whole, &lines)?;
    }
    run.finish()
}

#[derive(Debug, PartialEq)]
struct Reply<'l> {
    /// Seconds since 1970.
    stamp: Option<&'l str>,
    from: &'l str,
    sequence: Option<u64>,
    time: &'l str,
    is_repeated: bool,
}

impl<'l> Reply<'l> {
    /// "[1741944413.676380] 64 bytes from a.example (192.0.2.1): icmp_seq=1 ttl=64 time=0.273 ms";
    /// of BSD and macOS for IPv6, "16 bytes from ::1, icmp_seq=0 hlim=64 time=0.036 ms".
    fn of(line: &'l str) -> Option<Self> {
        let (stamp, rest) = stamped(line);
        let (_, rest) = rest.split_once(" bytes from ")?;
        let (from, rest) = rest.split_once(": ").or_else(|| rest.split_once(", "))?;
        let (_, time) = rest.split_once("time=")?;
        Some(Self {
            stamp,
            from: from.split([' ', '(']).next().unwrap_or(from),
            sequence: sequence(rest),
            time: value_and_unit(time),
            is_repeated: rest.contains("(DUP!)"),
        })
    }
}

/// "12.3 ms" of "12.3 ms (DUP!)", "12.3 ms(DUP!)" and of "12.3 ms: wrong data byte".
fn value_and_unit(text: &str) -> &str {
    let is_of_number = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | ' ');
    let unit = text.find(|letter| !is_of_number(letter)).unwrap_or(text.len());
    let length = text[unit..].find(|letter: char| !letter.is_alphabetic()).unwrap_or(text.len() - unit);
    text[..unit + length].trim()
}

fn stamped(line: &str) -> (Option<&str>, &str) {
    let stamp = line.strip_prefix('[').and_then(|line| line.split_once("] "));
    stamp.map_or((None, line), |(stamp, rest)| (Some(stamp), rest))
}

/// After "icmp_seq=", "icmp_seq " or "seq=".
fn sequence(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once("seq=").or_else(|| text.split_once("icmp_seq "))?;
    let digits = rest.split(|letter: char| !letter.is_ascii_digit()).next()?;
    digits.parse().ok()
}

/// The numbers of one run's requests, which have 16 bits.
#[derive(Default)]
struct Requests {
    is_whole: bool,
    first: Option<u64>,
    highest: u64,
    last: Option<u64>,
    replied: u64,
    unreachable: u64,
}

impl Requests {
    fn note(&mut self, sequence: u64) {
        self.first.get_or_insert(sequence);
        // The next with these 16 bits that is not far below the highest.
        let beyond = (sequence.wrapping_sub(self.highest) & 0xFFFF) as u16;
        if beyond < 0x8000 || self.highest == 0 {
            self.highest += u64::from(beyond);
        }
    }

    /// Of the pings sent, if known, or else up to the highest number.
    fn lost(&self, sent: Option<u64>) -> u64 {
        // A run begins with 0 or 1.
        let begin = self.first.map(|first| if self.is_whole { first.min(1) } else { first });
        let seen = begin.map_or(0, |begin| (self.highest + 1).saturating_sub(begin));
        sent.unwrap_or(seen).saturating_sub(self.replied + self.unreachable)
    }
}

struct Run<'s> {
    sink: &'s mut dyn Sink,
    labels: &'s Labels,
    sample: Sample,
    requests: Requests,
    lost: u64,
    unreachable: u64,
    repeated: u64,
}

impl Run<'_> {
    fn take<R: Read>(
        &mut self,
        number: u64,
        text: &str,
        is_whole: bool,
        lines: &Lines<R>,
    ) -> Result<(), Error> {
        if let Some(reply) = Reply::of(text) {
            let Some(ms) = number::with_unit(reply.time.as_bytes()) else {
                if !is_whole {
                    return Ok(());
                }
                let column = text.find("time=").map_or(1, |at| at + 6);
                let found = format!("{:?}", reply.time.chars().take(SHOWN).collect::<String>());
                return Err(Error::Number { place: lines.place(number, column), found, expected: A_TIME });
            };
            return self.reply(number, &reply, ms);
        }
        if text.starts_with("PING ") || text.starts_with("PING6(") {
            self.end_run(None);
            self.requests.is_whole = true;
        } else if let Some((sent, _)) = text.split_once(" packets transmitted, ") {
            self.end_run(sent.trim().parse().ok());
        } else if text.contains("icmp_seq") && (text.contains("Unreachable") || text.contains("exceeded")) {
            sequence(text).iter().for_each(|&sequence| self.requests.note(sequence));
            self.requests.unreachable += 1;
            self.unreachable += 1;
        } else if text.contains("no answer yet") || text.contains("Request timeout") {
            sequence(text).iter().for_each(|&sequence| self.requests.note(sequence));
        }
        Ok(())
    }

    fn reply(&mut self, number: u64, reply: &Reply<'_>, ms: f64) -> Result<(), Error> {
        // Without its first line it may be the output of several runs of one request.
        let is_repeated =
            self.requests.is_whole && reply.sequence.is_some() && reply.sequence == self.requests.last;
        self.requests.last = reply.sequence;
        if reply.is_repeated || is_repeated {
            self.repeated += 1;
            return Ok(());
        }
        self.requests.replied += 1;
        reply.sequence.iter().for_each(|&sequence| self.requests.note(sequence));
        let latency = nanoseconds(ms);
        let stamp = reply.stamp.and_then(|stamp| number::nanoseconds(stamp.as_bytes(), Unit::S));
        self.sample.latency_ns = Some(latency);
        self.sample.started_ns = stamp.and_then(|stamp| stamp.checked_sub(latency));
        label(&mut self.sample, self.labels, "host", Some(reply.from));
        self.sink.event(&Event { number, sample: &self.sample, exact: &[] })
    }

    fn end_run(&mut self, sent: Option<u64>) {
        self.lost = self.lost.saturating_add(std::mem::take(&mut self.requests).lost(sent));
    }

    fn finish(mut self) -> Result<Frame, Error> {
        self.end_run(None);
        let mut warnings = Vec::new();
        if self.repeated > 0 {
            let s = if self.repeated == 1 { " is" } else { "s are" };
            warnings.push(format!("{} repeated reply{s} left out.", self.repeated));
        }
        let lost = self.lost.min(MOST_LOST);
        if lost < self.lost {
            warnings.push(format!("More than {} lost; the rest is left out.", counted(lost, "request")));
        }
        failures([("unreachable", self.unreachable), ("no reply", lost)], self.sink, &mut warnings)?;
        Ok(Frame { warnings, ..Frame::default() })
    }
}

const A_TIME: &str = "a time such as 12.3 ms";

/// More than a run of a year loses, and no number that a damaged line can make.
const MOST_LOST: u64 = 1_000_000;

const SHOWN: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Format,
        read::json::testing::{Kept, read},
    };

    fn replies(kept: &Kept) -> Vec<Result<u64, &str>> {
        kept.samples
            .iter()
            .map(|sample| sample.error.as_deref().map_or_else(|| Ok(sample.latency_ns.unwrap()), Err))
            .collect()
    }

    const HEADER: &str = "PING a.example (192.0.2.1) 56(84) bytes of data.\n";

    #[test]
    fn replies_and_lost_requests() {
        let text = format!(
            "{HEADER}64 bytes from a.example (192.0.2.1): icmp_seq=1 ttl=64 time=0.052 ms\nno answer yet for icmp_seq=2\n\
             64 bytes from a.example (192.0.2.1): icmp_seq=3 ttl=64 time=12.3 ms\n64 bytes from a.example (192.0.2.1): icmp_seq=3 ttl=64 time=13 ms (DUP!)\n\
             From 198.51.100.1 icmp_seq=4 Destination Host Unreachable\n\n--- a.example ping statistics ---\n\
             6 packets transmitted, 2 received, +1 errors, 66% packet loss, time 5005ms\nrtt min/avg/max/mdev = 0.052/6/12.3/0.006 ms\n"
        );
        let kept = read(&text).unwrap();
        assert_eq!((kept.format, &kept.numbers[..2]), (Some(Format::Ping), &[2, 4][..]));
        assert_eq!(
            replies(&kept),
            [
                Ok(52_000),
                Ok(12_300_000),
                Err("unreachable"),
                Err("no reply"),
                Err("no reply"),
                Err("no reply")
            ]
        );
        assert_eq!(kept.samples[0].labels["host"], "a.example");
        assert_eq!(
            (kept.samples[0].started_ns, &kept.warnings[..]),
            (None, &["1 repeated reply is left out.".to_owned()][..])
        );
        let kept = read(&text[..text.find("\n---").unwrap()]).unwrap();
        assert_eq!(replies(&kept)[2..], [Err("unreachable"), Err("no reply")]);
    }

    #[test]
    fn stamps_are_of_replies() {
        let text = "[1741944413.676380] 64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=0.380 ms\n";
        let kept = read(format!("{HEADER}{text}")).unwrap();
        assert_eq!(kept.samples[0].started_ns, Some(1_741_944_413_676_000_000));
        assert_eq!(read(text).unwrap().samples, kept.samples);
    }

    #[test]
    fn other_programs() {
        let mac = "PING a.example (192.0.2.1): 56 data bytes\n64 bytes from 192.0.2.1: icmp_seq=0 ttl=57 time=12.5 ms\nRequest timeout for icmp_seq 1\n64 bytes from 192.0.2.1: icmp_seq=2 ttl=57 time=13.5 ms\n";
        assert_eq!(replies(&read(mac).unwrap()), [Ok(12_500_000), Ok(13_500_000), Err("no reply")]);
        let busybox = "PING 192.0.2.1 (192.0.2.1): 56 data bytes\n64 bytes from 192.0.2.1: seq=0 ttl=64 time=0.050 ms\n";
        assert_eq!(replies(&read(busybox).unwrap()), [Ok(50_000)]);
        let bsd = "PATTERN: 0xff\nPING6(56=40+8+8 bytes) 2001:db8::1 --> 2001:db8::2\n16 bytes from 2001:db8::2, icmp_seq=0 hlim=59 time=32.992 ms\n\
                   16 bytes from 2001:db8::3, icmp_seq=0 hlim=59 time=40 ms\n16 bytes from 2001:db8::2, icmp_seq=1 hlim=59 time=34 ms(DUP!)\n\
                   \n--- a.example ping6 statistics ---\n3 packets transmitted, 1 packets received, +2 duplicates, 66.0% packet loss\n";
        let kept = read(bsd).unwrap();
        assert_eq!(kept.format, Some(Format::Ping));
        assert_eq!(replies(&kept), [Ok(32_992_000), Err("no reply"), Err("no reply")]);
        assert_eq!(kept.samples[0].labels["host"], "2001:db8::2");
    }

    #[test]
    fn runs_of_one_request_without_their_first_lines() {
        let line = "64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=12 ms\n";
        assert_eq!(read(line.repeat(3)).unwrap().samples.len(), 3);
    }

    #[test]
    fn what_follows_the_unit_is_passed_over() {
        let text =
            format!("{HEADER}64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=0.043 ms: wrong data byte\n");
        assert_eq!(replies(&read(text).unwrap()), [Ok(43_000)]);
    }

    #[test]
    fn numbers_have_16_bits() {
        let mut requests = Requests::default();
        for sequence in (1..=65_535).chain(0..=9) {
            requests.note(sequence);
        }
        assert_eq!((requests.highest, requests.lost(None)), (65_545, 65_545));
    }

    #[test]
    fn what_is_wrong_has_a_place() {
        let refused =
            read(format!("{HEADER}64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=fast\n")).unwrap_err();
        assert!(refused.starts_with("x:2:49: found \"fast\"; expected a time"), "{refused}");
    }
}
