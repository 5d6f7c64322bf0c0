//! Reads what ping prints on Windows, in any of its languages: a line for each reply, in whole
//! milliseconds.
//!
//! A reply is recognised by its time and its time to live, and the end of a run by its three
//! counts.

use super::{Frame, Input, Options, json::label, lines::Lines, summary::failures};
use crate::{Error, Event, Sample, Sink, error::counted, unit::nanoseconds};

/// "Pinging a.example [192.0.2.1] with 32 bytes of data:", or a reply.
pub(super) fn is_header(line: &[u8]) -> bool {
    (line.starts_with(b"Pinging ") && line.trim_ascii_end().ends_with(b" bytes of data:"))
        || Line::of(&String::from_utf8_lossy(line)).is_some_and(|line| matches!(line, Line::Reply { .. }))
}

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let mut lines = Lines::new(input.reader, input.path);
    let mut sample = Sample::default();
    let (mut run, mut lost) = (Run::default(), Lost::default());
    let mut below = 0;
    while let Some(line) = lines.next()? {
        let text = String::from_utf8_lossy(line.text);
        match Line::of(&text) {
            Some(Line::Reply { from, time }) => {
                run.replied += 1;
                below += u64::from(time == Time::Below(1));
                sample.latency_ns = Some(nanoseconds(time.milliseconds()));
                label(&mut sample, &options.labels, "host", Some(from));
                sink.event(&Event { number: line.number, sample: &sample, exact: &[] })?;
            }
            Some(Line::Begin) => lost.end(&std::mem::take(&mut run), None),
            Some(Line::Unreachable) => run.unreachable += 1,
            Some(Line::TimedOut) => run.timed_out += 1,
            Some(Line::Counts { sent }) => lost.end(&std::mem::take(&mut run), Some(sent)),
            None => {}
        }
    }
    lost.end(&run, None);
    let mut warnings =
        vec!["Windows' ping has whole milliseconds: shorter differences cannot be seen.".to_owned()];
    if below > 0 {
        let are = if below == 1 { "counts" } else { "count" };
        warnings
            .push(format!("{} of less than a millisecond {are} as 0.5 ms.", counted(below, "round trip")));
    }
    if lost.is_beyond {
        warnings.push(format!("More than {MOST_LOST} requests lost; the rest is left out."));
    }
    let all = [("unreachable", lost.unreachable), ("no reply", lost.silent)];
    failures(all, sink, &mut warnings)?;
    Ok(Frame { warnings, ..Frame::default() })
}

#[derive(Default)]
struct Run {
    replied: u64,
    unreachable: u64,
    timed_out: u64,
}

/// Without a reply, of all runs.
#[derive(Default)]
struct Lost {
    unreachable: u64,
    silent: u64,
    is_beyond: bool,
}

impl Lost {
    /// Without counts at the end, only lines that name a timeout show a loss.
    fn end(&mut self, run: &Run, sent: Option<u64>) {
        let silent = match sent {
            Some(sent) => sent.saturating_sub(run.replied + run.unreachable),
            None => run.timed_out,
        };
        self.unreachable = self.unreachable.saturating_add(run.unreachable);
        let all = self.silent.saturating_add(silent);
        self.is_beyond |= all > MOST_LOST;
        self.silent = all.min(MOST_LOST);
    }
}

#[derive(Debug, PartialEq)]
enum Line<'l> {
    Begin,
    /// "Reply from 192.0.2.1: bytes=32 time=12ms TTL=56", "Antwort von ::1: Zeit<1ms".
    Reply {
        from: &'l str,
        time: Time,
    },
    /// "Reply from 192.0.2.254: Destination host unreachable."
    Unreachable,
    TimedOut,
    /// "    Packets: Sent = 4, Received = 4, Lost = 0 (0% loss),"
    Counts {
        sent: u64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Time {
    Is(u32),
    Below(u32),
}

impl Time {
    fn milliseconds(self) -> f64 {
        match self {
            Self::Is(ms) => ms.into(),
            Self::Below(ms) => f64::from(ms) / 2.0,
        }
    }
}

impl<'l> Line<'l> {
    fn of(line: &'l str) -> Option<Self> {
        let line = line.trim_end();
        if line.starts_with("Pinging ") {
            return Some(Self::Begin);
        }
        if line.starts_with("Request timed out") || line.starts_with("General failure") {
            return Some(Self::TimedOut);
        }
        if let Some(sent) = sent(line) {
            return Some(Self::Counts { sent });
        }
        // French puts a blank before the colon, which an address may have too.
        let (before, after) = line.split_once(": ").or_else(|| line.split_once(" :"))?;
        let from = before.trim_end().rsplit(' ').next()?;
        if let Some(time) = time(after) {
            let is_reply = after.contains("TTL=") || from.contains(':');
            return is_reply.then_some(Self::Reply { from, time });
        }
        line.starts_with("Reply from ").then_some(Self::Unreachable)
    }
}

/// "time=12ms", "Zeit<1ms", "temps=12 ms": the word that ends in milliseconds.
fn time(text: &str) -> Option<Time> {
    let at = text.find("ms").filter(|at| text[at + 2..].chars().next().is_none_or(char::is_whitespace))?;
    let before = text[..at].trim_end();
    let digits = before.rfind(|letter: char| !letter.is_ascii_digit())?;
    let ms = before.get(digits + 1..)?.parse().ok()?;
    match before[..=digits].chars().next_back()? {
        '=' => Some(Time::Is(ms)),
        '<' => Some(Time::Below(ms)),
        _ => None,
    }
}

fn sent(line: &str) -> Option<u64> {
    let (_, counts) = line.strip_prefix("    ")?.split_once(':')?;
    let counts = counts.split('(').next()?.trim_end();
    let counts: Option<Vec<u64>> = counts
        .trim_end_matches(',')
        .split(',')
        .map(|count| count.split_once('=')?.1.trim().parse().ok())
        .collect();
    match counts?.as_slice() {
        &[sent, received, lost] if received.checked_add(lost) == Some(sent) => Some(sent),
        _ => None,
    }
}

/// More than a run of a year loses, and no number that a damaged line can make.
const MOST_LOST: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use crate::{
        Format,
        read::json::testing::{Kept, read},
    };

    const RUN: &str = "\r\nPinging a.example [192.0.2.1] with 32 bytes of data:\r\nReply from 192.0.2.1: bytes=32 time=12ms TTL=56\r\n\
        Reply from 192.0.2.1: bytes=32 time<1ms TTL=56\r\nRequest timed out.\r\nReply from 192.0.2.254: Destination host unreachable.\r\n\r\n\
        Ping statistics for 192.0.2.1:\r\n    Packets: Sent = 5, Received = 3, Lost = 2 (40% loss),\r\n\
        Approximate round trip times in milli-seconds:\r\n    Minimum = 0ms, Maximum = 12ms, Average = 6ms\r\n";

    fn replies(kept: &Kept) -> Vec<Result<f64, &str>> {
        let of = |sample: &crate::Sample| sample.latency_ns.map(|ns| ns as f64 / 1e6);
        kept.samples
            .iter()
            .map(|sample| sample.error.as_deref().map_or_else(|| Ok(of(sample).unwrap()), Err))
            .collect()
    }

    #[test]
    fn replies_and_lost_requests() {
        let kept = read(RUN).unwrap();
        assert_eq!((kept.format, &kept.numbers[..2]), (Some(Format::WindowsPing), &[3, 4][..]));
        assert_eq!(replies(&kept), [Ok(12.0), Ok(0.5), Err("unreachable"), Err("no reply"), Err("no reply")]);
        assert_eq!(kept.samples[0].labels["host"], "192.0.2.1");
        assert_eq!(kept.warnings[1], "1 round trip of less than a millisecond counts as 0.5 ms.");
        let kept = read(&RUN[..RUN.find("Ping statistics").unwrap()]).unwrap();
        assert_eq!(replies(&kept)[2..], [Err("unreachable"), Err("no reply")]);
        assert_eq!(read(RUN.repeat(2)).unwrap().samples.len(), 10);
    }

    #[test]
    fn other_languages_and_families() {
        let german = "Ping wird ausgef\u{fc}hrt f\u{fc}r a.example [192.0.2.1] mit 32 Bytes Daten:\r\nAntwort von 192.0.2.1: Bytes=32 Zeit=7ms TTL=56\r\n\
            Zeit\u{fc}berschreitung der Anforderung.\r\n\r\nPing-Statistik f\u{fc}r 192.0.2.1:\r\n    Pakete: Gesendet = 2, Empfangen = 1, Verloren = 1\r\n    (50% Verlust),\r\n";
        assert_eq!(replies(&read(german).unwrap()), [Ok(7.0), Err("no reply")]);
        let french = "R\u{e9}ponse de 192.0.2.1 : octets=32 temps=12 ms TTL=56\r\n    Paquets : envoy\u{e9}s = 1, re\u{e7}us = 1, perdus = 0 (perte 0%),\r\n";
        assert_eq!(replies(&read(french).unwrap()), [Ok(12.0)]);
        let v6 = "Pinging ::1 with 32 bytes of data:\r\nReply from ::1: time<1ms\r\nReply from 2001:db8::1: time=31ms\r\n";
        let kept = read(v6).unwrap();
        assert_eq!(
            (replies(&kept), kept.samples[1].labels["host"].as_str()),
            (vec![Ok(0.5), Ok(31.0)], "2001:db8::1")
        );
    }
}
