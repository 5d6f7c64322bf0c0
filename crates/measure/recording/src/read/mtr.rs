//! Reads the output of `mtr --raw`: for each hop, sent requests, replies and their times in
//! microseconds.
//!
//! The samples are those of the nearest hop with the address of the farthest one that replied,
//! because mtr probes beyond the destination before it is known; or those of all hops, if labels
//! are requested.

use std::collections::BTreeMap;

use super::{
    Frame, Input, Labels, Options,
    json::{cut_off, label},
    lines::Lines,
};
use crate::{Error, Event, Sample, Sink};

/// "x 0 33000", the first request.
pub(super) fn is_header(line: &[u8]) -> bool {
    matches!(Line::of(&String::from_utf8_lossy(line)), Some(Line::Sent { hop: 0, .. }))
}

/// The head of the table that `mtr --report` prints.
pub(super) fn is_head_of_report(line: &[u8]) -> bool {
    line.starts_with(b"HOST: ") && memchr::memmem::find(line, b"Loss%").is_some()
}

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let mut lines = Lines::new(input.reader, input.path);
    let (mut hops, mut kept, mut warnings) = (BTreeMap::<u64, Hop>::new(), 0, Vec::new());
    while let Some(line) = lines.next()? {
        let (number, is_whole) = (line.number, line.terminated);
        match Line::of(&String::from_utf8_lossy(line.text)) {
            Some(Line::Sent { hop, sequence }) => {
                kept += 1;
                if kept > MOST_REQUESTS || hop > MOST_HOPS {
                    let found = format!("more than {MOST_REQUESTS} requests or {MOST_HOPS} hops");
                    return Err(Error::Number {
                        place: lines.place(number, 1),
                        found,
                        expected: "a shorter run",
                    });
                }
                hops.entry(hop).or_default().requests.push(Request { number, sequence, us: None });
            }
            Some(Line::Reply { hop, sequence, us }) => {
                if let Some(request) = hops.get_mut(&hop).and_then(|hop| hop.request(sequence)) {
                    request.us = Some(us);
                }
            }
            Some(Line::Host { hop, host }) => {
                hops.entry(hop.min(MOST_HOPS)).or_default().host = Some(host.to_owned());
            }
            Some(Line::Other) => {}
            None if !is_whole => warnings.push(cut_off(number)),
            None => {
                let found = "another line than mtr prints".to_owned();
                return Err(Error::Number { place: lines.place(number, 1), found, expected: A_LINE });
            }
        }
    }
    if options.labels == Labels::None {
        keep_destination(&mut hops, &mut warnings);
    }
    let mut sample = Sample::default();
    for (hop, Hop { host, requests }) in &hops {
        for request in requests {
            sample.latency_ns = request.us.map(|us| us.saturating_mul(1000));
            sample.error = request.us.is_none().then(|| "no reply".to_owned());
            label(&mut sample, &options.labels, "hop", Some(&(hop + 1).to_string()));
            label(&mut sample, &options.labels, "host", host.as_deref());
            sink.event(&Event { number: request.number, sample: &sample, exact: &[] })?;
        }
    }
    Ok(Frame { warnings, ..Frame::default() })
}

#[derive(Default)]
struct Hop {
    host: Option<String>,
    requests: Vec<Request>,
}

struct Request {
    number: u64,
    sequence: u64,
    us: Option<u64>,
}

impl Hop {
    /// Only a recent request with this number that has no reply.
    fn request(&mut self, sequence: u64) -> Option<&mut Request> {
        let recent = self.requests.iter_mut().rev().take(RECENT);
        recent.into_iter().find(|request| request.sequence == sequence && request.us.is_none())
    }

    fn has_replies(&self) -> bool {
        self.requests.iter().any(|request| request.us.is_some())
    }
}

fn keep_destination(hops: &mut BTreeMap<u64, Hop>, warnings: &mut Vec<String>) {
    let Some((&farthest, Hop { host, .. })) = hops.iter().rev().find(|(_, hop)| hop.has_replies()) else {
        return;
    };
    let is_same = |hop: &Hop| host.is_some() && hop.host == *host;
    let nearest = hops.iter().find(|(_, hop)| is_same(hop)).map_or(farthest, |(&hop, _)| hop);
    warnings.push(format!(
        "The samples are from hop {}, {}, the last that replied; --by hop includes all hops.",
        nearest + 1,
        host.as_deref().unwrap_or("whose address is unknown")
    ));
    hops.retain(|&hop, _| hop == nearest);
}

/// Hops count from 0.
enum Line<'l> {
    Sent { hop: u64, sequence: u64 },
    Reply { hop: u64, sequence: u64, us: u64 },
    Host { hop: u64, host: &'l str },
    Other,
}

impl<'l> Line<'l> {
    fn of(text: &'l str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace();
        let kind = words.next()?;
        if !matches!(kind, "x" | "p" | "h" | "d" | "m") {
            return None;
        }
        let hop = words.next()?.parse().ok()?;
        let next = words.next()?;
        Some(match kind {
            "x" => Self::Sent { hop, sequence: next.parse().ok()? },
            "p" => Self::Reply { hop, us: next.parse().ok()?, sequence: words.next()?.parse().ok()? },
            "h" => Self::Host { hop, host: next },
            _ => Self::Other,
        })
    }
}

/// A day of thirty hops, one a second.
const MOST_REQUESTS: u64 = 4_000_000;

/// A packet's time to live has eight bits.
const MOST_HOPS: u64 = 255;

const RECENT: usize = 1000;

const A_LINE: &str = "a line such as \"x 0 33000\", \"p 0 81 33000\" or \"h 0 192.0.2.1\"";

#[cfg(test)]
mod tests {
    use crate::{
        Format, Options,
        read::json::testing::{read, read_with},
    };

    const RAW: &str = "x 0 33000\nh 0 198.51.100.1\np 0 81 33000\nx 1 33001\nh 1 192.0.2.1\np 1 620 33001\nx 2 33002\nh 2 192.0.2.1\n\
                       d 1 a.example\np 2 640 33002\nx 0 33003\np 0 60 33003\nx 1 33004\nx 0 33005\nx 1 33006\np 1 500 33006\n";

    #[test]
    fn the_samples_are_those_of_the_destination() {
        let kept = read_with(RAW, &Options::default()).unwrap();
        assert_eq!((kept.format, &kept.numbers[..]), (Some(Format::Mtr), &[4, 13, 15][..]));
        let seen: Vec<_> =
            kept.samples.iter().map(|sample| (sample.latency_ns, sample.error.as_deref())).collect();
        assert_eq!(seen, [(Some(620_000), None), (None, Some("no reply")), (Some(500_000), None)]);
        assert!(kept.warnings[0].starts_with("The samples are from hop 2, 192.0.2.1"), "{:?}", kept.warnings);
    }

    #[test]
    fn with_labels_all_hops_count() {
        let kept = read(RAW).unwrap();
        let hops: Vec<_> = kept.samples.iter().map(|sample| sample.labels["hop"].as_str()).collect();
        assert_eq!(hops, ["1", "1", "1", "2", "2", "2", "3"]);
        assert_eq!(kept.samples[0].labels["host"], "198.51.100.1");
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let refused = read(format!("{RAW}p 1 fast 33006\n")).unwrap_err();
        assert!(refused.starts_with("x:17:1: found another line than mtr prints"), "{refused}");
        assert!(read(format!("{RAW}p 1")).unwrap().warnings[0].contains("cut off"));
        let refused =
            read("{\n\"report\": {\"mtr\": {\"src\": \"a\"}, \"hubs\": [{\"Loss%\": 0.0}]}}\n").unwrap_err();
        assert!(refused.contains("mtr's report") && refused.contains("mtr --raw"), "{refused}");
    }
}
