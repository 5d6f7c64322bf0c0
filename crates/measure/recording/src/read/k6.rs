//! Reads the output of `k6 run --out json=...` or `--out csv=...`: a line for each metric of each
//! request, which are combined again.
//!
//! `http_req_duration`, sending + waiting + receiving, is the latency. `http_req_blocked` includes
//! the name lookup, connecting and the TLS handshake, so the total is blocked + duration, before
//! the point's time. The points of a request are consecutive, with one time and one set of tags. A
//! request failed if it has an `error` or the status 0.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
};

use serde::{
    Deserialize,
    de::{Deserializer, MapAccess, Visitor},
};

use super::{
    Frame, Input, Labels, Options,
    json::{self, Moment, host, label, length, status},
};
use crate::{Error, Event, Metric, Sample, Sink, Unit};

mod rows;
mod summary;

pub(super) use rows::read as read_csv;
pub(super) use summary::read as read_summary;

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let mut request = Request::default();
    let cut = json::each_line(input, EXPECTED, |line| {
        let point: Point<'_> = serde_json::from_slice(line.text)?;
        let (Some(part), Some(data)) = (point.part(), &point.data) else { return Ok(()) };
        if !request.belongs(part, data) {
            request.hand_over(sink)?;
            let tags = serde_json::from_slice::<Tagged>(line.text)?.data.tags.unwrap_or_default();
            request.begin(line.number, data, &tags, &options.labels);
        }
        request.parts[part] = data.value;
        Ok(())
    })?;
    request.hand_over(sink)?;
    Ok(Frame { warnings: cut.into_iter().collect(), ..Frame::default() })
}

/// The declaration of a metric has no value.
#[derive(Deserialize)]
struct Point<'l> {
    #[serde(borrow)]
    metric: Option<Cow<'l, str>>,
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'l, str>>,
    data: Option<Data>,
}

#[derive(Deserialize)]
struct Data {
    time: Option<Moment>,
    value: Option<f64>,
    #[serde(default)]
    tags: Fingerprint,
}

impl Point<'_> {
    fn part(&self) -> Option<usize> {
        part(self.metric.as_deref().filter(|_| self.kind.as_deref() == Some("Point"))?)
    }
}

fn part(metric: &str) -> Option<usize> {
    let rest = metric.strip_prefix("http_req")?;
    PARTS.iter().position(|part| *part == rest)
}

#[derive(Deserialize)]
struct Tagged {
    data: Tags,
}

#[derive(Deserialize)]
struct Tags {
    tags: Option<BTreeMap<String, String>>,
}

/// Distinguishes sets of tags without storing them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Fingerprint(u64);

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize, Hash)]
        struct Text<'t>(#[serde(borrow)] Cow<'t, str>);
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Fingerprint;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of tags")
            }
            fn visit_unit<E>(self) -> Result<Fingerprint, E> {
                Ok(Fingerprint::default())
            }
            fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Fingerprint, A::Error> {
                let mut hasher = DefaultHasher::new();
                while let Some(tag) = object.next_entry::<Text<'de>, Text<'de>>()? {
                    tag.hash(&mut hasher);
                }
                Ok(Fingerprint(hasher.finish()))
            }
        }
        deserializer.deserialize_any(Object)
    }
}

#[derive(Default)]
struct Request {
    /// The line of its first point; 0 before it.
    number: u64,
    ended: Option<u64>,
    tags: Fingerprint,
    /// In the order of [`PARTS`].
    parts: [Option<f64>; PARTS.len()],
    sample: Sample,
}

impl Request {
    fn belongs(&self, part: usize, data: &Data) -> bool {
        let ended = data.time.map(|Moment(nanos)| nanos);
        self.number > 0 && self.ended == ended && self.tags == data.tags && self.parts[part].is_none()
    }

    fn begin(&mut self, number: u64, data: &Data, tags: &BTreeMap<String, String>, labels: &Labels) {
        self.number = number;
        self.ended = data.time.map(|Moment(nanos)| nanos);
        self.tags = data.tags;
        let tag = |name: &str| tags.get(name).map(String::as_str).filter(|value| !value.is_empty());
        let code = tag("status").and_then(|status| status.parse().ok());
        self.sample.status = status(code);
        self.sample.error = failure(tag("error"), tag("error_code"), code);
        self.sample.labels.clear();
        for (name, value) in tags {
            if !["status", "error"].contains(&name.as_str()) {
                label(&mut self.sample, labels, name, Some(value));
            }
        }
        label(&mut self.sample, labels, "protocol", tag("proto"));
        label(&mut self.sample, labels, "host", tag("url").and_then(host));
    }

    fn hand_over(&mut self, sink: &mut dyn Sink) -> Result<(), Error> {
        if self.number == 0 {
            return Ok(());
        }
        let [_, _, duration, blocked, connecting, tls, sending, waiting, receiving] =
            self.parts.map(|part| {
                // The clock behind these can be set back, which makes them negative.
                part.and_then(|ms| length(Unit::Ms, ms))
            });
        let is_answered = self.sample.error.is_none();
        let sample = &mut self.sample;
        let total = duration.zip(blocked).and_then(|(duration, blocked)| duration.checked_add(blocked));
        sample.latency_ns = duration;
        sample.last_byte_ns = total;
        sample.started_ns = json::between(total.or(duration), self.ended);
        sample.connect_ns = connecting.filter(|&nanos| nanos > 0);
        sample.tls_ns = tls.filter(|&nanos| nanos > 0);
        sample.send_ns = sending;
        sample.wait_ns = waiting;
        sample.load_ns = receiving;
        sample.reused = connecting.filter(|_| is_answered).map(|nanos| nanos == 0);
        let exact = self.parts[DURATION].filter(|_| duration.is_some()).map(|ms| (Metric::Latency, ms));
        let event = Event { number: self.number, sample, exact: exact.as_slice() };
        self.number = 0;
        self.parts = Default::default();
        sink.event(&event)
    }
}

/// Codes from 1400 to 1599 are responses: 1000 + the status.
fn failure(error: Option<&str>, code: Option<&str>, status: Option<i64>) -> Option<String> {
    let is_answer = |code: &str| code.parse().is_ok_and(|code: u32| (1400..1600).contains(&code));
    match (error, code.filter(|code| !is_answer(code)), status) {
        (Some(error), _, _) => Some(error.to_owned()),
        (None, Some(code), None | Some(0)) => Some(format!("error code {code}")),
        (None, None, Some(0)) => Some("no response".to_owned()),
        _ => None,
    }
}

/// Without the prefix "http_req".
const PARTS: [&str; 9] = [
    "s",
    "_failed",
    "_duration",
    "_blocked",
    "_connecting",
    "_tls_handshaking",
    "_sending",
    "_waiting",
    "_receiving",
];

const DURATION: usize = 2;

const EXPECTED: &str = "a line of k6's JSON output, one metric or one point of it";

#[cfg(test)]
mod tests;
