//! Reads results of pings of RIPE Atlas: a JSON array, or an object on each line.
//!
//! A result has several requests, each with the time of its reply in milliseconds, or none.
//! `timestamp` is when the first was sent, in whole seconds.

use serde::Deserialize;

use super::{
    Frame, Input, Options,
    json::{Loose, each_object, label, length},
};
use crate::{Error, Event, Sample, Sink, Unit, error::counted};

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let mut sample = Sample::default();
    let (mut number, mut others) = (0, 0);
    let cut = each_object(input, "results of pings of RIPE Atlas", |result: Measured| {
        number += 1;
        if result.kind.text() != Some("ping") {
            others += 1;
            return Ok(());
        }
        sample.started_ns = result.timestamp.and_then(|seconds| seconds.checked_mul(1_000_000_000));
        let target = result.dst_name.text().or(result.dst_addr.text());
        let labels = [("probe", result.prb_id.text()), ("host", target), ("family", result.family())];
        for (name, value) in labels {
            label(&mut sample, &options.labels, name, value);
        }
        for reply in result.result.iter().filter(|reply| reply.dup.is_none()) {
            sample.latency_ns = reply.rtt.and_then(|ms| length(Unit::Ms, ms));
            sample.error = match (sample.latency_ns, &reply.error) {
                (Some(_), _) => None,
                (None, Some(error)) => Some(error.text().unwrap_or("error").to_owned()),
                (None, None) => Some("no reply".to_owned()),
            };
            sink.event(&Event { number, sample: &sample, exact: &[] })?;
        }
        Ok(())
    })?;
    let mut warnings: Vec<String> = cut.into_iter().collect();
    if others > 0 {
        warnings.push(format!("{} of other measurements than ping skipped.", counted(others, "result")));
    }
    Ok(Frame { warnings, ..Frame::default() })
}

#[derive(Deserialize)]
struct Measured {
    #[serde(default, rename = "type")]
    kind: Loose,
    timestamp: Option<u64>,
    #[serde(default)]
    prb_id: Loose,
    #[serde(default)]
    dst_name: Loose,
    #[serde(default)]
    dst_addr: Loose,
    #[serde(default)]
    af: Loose,
    #[serde(default)]
    result: Vec<Reply>,
}

/// `{"rtt":12.3}`, `{"x":"*"}` or `{"error":"connect failed: ..."}`.
#[derive(Deserialize)]
struct Reply {
    rtt: Option<f64>,
    error: Option<Loose>,
    dup: Option<Loose>,
}

impl Measured {
    fn family(&self) -> Option<&'static str> {
        match self.af.text()? {
            "4" => Some("ipv4"),
            "6" => Some("ipv6"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Format, read::json::testing::read};

    const RESULT: &str = r#"{"fw":5080,"lts":22,"dst_name":"a.example","af":4,"dst_addr":"192.0.2.1","src_addr":"198.51.100.7","proto":"ICMP","ttl":58,"size":48,"result":[{"rtt":12.345},{"x":"*"},{"rtt":13,"dup":1},{"error":"sendto failed"}],"dup":1,"rcvd":1,"sent":3,"min":12.345,"max":12.345,"avg":12.345,"msm_id":1001,"prb_id":6012,"timestamp":1741944413,"msm_name":"Ping","from":"198.51.100.7","type":"ping","group_id":1001,"step":240}"#;

    #[test]
    fn each_request_is_a_sample() {
        let kept = read(format!("[{RESULT},{}]", RESULT.replace("\"ping\"", "\"traceroute\""))).unwrap();
        assert_eq!((kept.format, &kept.numbers[..]), (Some(Format::Atlas), &[1, 1, 1][..]));
        let seen: Vec<_> =
            kept.samples.iter().map(|sample| (sample.latency_ns, sample.error.as_deref())).collect();
        assert_eq!(seen, [(Some(12_345_000), None), (None, Some("no reply")), (None, Some("sendto failed"))]);
        let first = &kept.samples[0];
        assert_eq!(first.started_ns, Some(1_741_944_413_000_000_000));
        assert_eq!(
            ["probe", "host", "family"].map(|name| first.labels[name].as_str()),
            ["6012", "a.example", "ipv4"]
        );
        assert_eq!(kept.warnings, ["1 result of other measurements than ping skipped."]);
        assert_eq!(read(format!("{RESULT}\n{RESULT}\n")).unwrap().samples.len(), 6);
        assert!(read(format!("{RESULT}\n{}", &RESULT[..200])).unwrap().warnings[0].contains("cut off"));
    }
}
