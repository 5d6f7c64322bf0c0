//! Reads what `vegeta encode --to json` writes: an object for each hit.
//!
//! `latency` is the time from the start to the last byte, and `timestamp` the start. vegeta calls every answer outside of
//! 200-399 an error; here a hit failed when there is no answer, which its code 0 says.

use serde::Deserialize;

use super::{
    Frame, Input, Options,
    json::{self, Loose, Moment, host, label},
};
use crate::{Error, Event, Sample, Sink};

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let mut sample = Sample::default();
    let mut number = 0;
    let cut = json::each_object(input, EXPECTED, |hit: Hit| {
        number += 1;
        hit.fill(&mut sample);
        let url = hit.url.text();
        for (name, value) in [
            ("url", url),
            ("host", url.and_then(host)),
            ("method", hit.method.text()),
            ("attack", hit.attack.text()),
        ] {
            label(&mut sample, &options.labels, name, value);
        }
        sink.event(&Event { number, sample: &sample, exact: &[] })
    })?;
    Ok(Frame { warnings: cut.into_iter().collect(), ..Frame::default() })
}

#[derive(Deserialize)]
struct Hit {
    timestamp: Option<Moment>,
    latency: Option<u64>,
    code: Option<u16>,
    bytes_in: Option<u64>,
    error: Option<String>,
    #[serde(default)]
    attack: Loose,
    #[serde(default)]
    method: Loose,
    #[serde(default)]
    url: Loose,
}

impl Hit {
    fn fill(&self, sample: &mut Sample) {
        sample.started_ns = self.timestamp.map(|Moment(nanos)| nanos);
        sample.latency_ns = self.latency;
        sample.last_byte_ns = self.latency;
        sample.status = self.code.filter(|&code| code > 0);
        let reason = self.error.as_deref().filter(|reason| !reason.is_empty());
        sample.error = (self.code == Some(0)).then(|| reason.unwrap_or("no response").to_owned());
        sample.body_bytes = self.bytes_in.filter(|_| sample.error.is_none());
    }
}

const EXPECTED: &str = "what vegeta encode --to json writes, one object a hit";

#[cfg(test)]
mod tests;
