//! Reads the output of `vegeta encode` as JSON, an object for each hit, or as CSV, a record for
//! each.
//!
//! `latency` is the time from the start to the last byte, and `timestamp` the start. A hit failed
//! if its code is 0, without a response.

use serde::Deserialize;

use super::{
    Frame, Input, Labels, Options,
    json::{self, Loose, Moment, Text, host, label},
};
use crate::{Error, Event, Sample, Sink};

mod records;
mod rows;

pub(super) use rows::read as read_csv;

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let mut sample = Sample::default();
    let mut number = 0;
    let cut = json::each_object(input, EXPECTED, |hit: Hit| {
        number += 1;
        hit.fill(&mut sample, &options.labels);
        sink.event(&Event { number, sample: &sample, exact: &[] })
    })?;
    Ok(Frame { warnings: cut.into_iter().collect(), ..Frame::default() })
}

/// Without bodies and headers, which may be large.
#[derive(Deserialize)]
struct Hit {
    timestamp: Option<Moment>,
    latency: Option<u64>,
    code: Option<u16>,
    bytes_in: Option<u64>,
    error: Option<Text>,
    #[serde(default)]
    attack: Loose,
    #[serde(default)]
    method: Loose,
    #[serde(default)]
    url: Loose,
}

impl Hit {
    fn fill(&self, sample: &mut Sample, labels: &Labels) {
        sample.started_ns = self.timestamp.map(|Moment(nanos)| nanos);
        sample.latency_ns = self.latency;
        sample.last_byte_ns = self.latency;
        sample.status = self.code.filter(|&code| code > 0);
        let reason =
            self.error.as_ref().map(|Text(reason)| reason.as_str()).filter(|reason| !reason.is_empty());
        sample.error = (self.code == Some(0)).then(|| reason.unwrap_or("no response").to_owned());
        sample.body_bytes = self.bytes_in.filter(|_| sample.error.is_none());
        let url = self.url.text();
        for (name, value) in [
            ("url", url),
            ("host", url.and_then(host)),
            ("method", self.method.text()),
            ("attack", self.attack.text()),
        ] {
            label(sample, labels, name, value);
        }
    }
}

const EXPECTED: &str = "what vegeta encode --to json writes, one object a hit";

#[cfg(test)]
mod tests;
