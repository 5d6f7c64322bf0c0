//! Cloudflare's Logpush of HTTP requests, one JSON object a line.
//!
//! The timestamps are whole seconds by default: their difference is a latency only if both are
//! finer (`timestamp_format` `unixnano` or `rfc3339ns`). The phases belong to the edge's own
//! request to the origin.

use super::{
    fields::{Fields, instant},
    format::{Kind, Stamped},
    object::{Keys, Meaning, Object, Wrong},
};
use crate::{Metric, Unit, unit::nanoseconds};

pub(super) static KEYS: Keys = Keys { required: &["EdgeStartTimestamp"], meaning, finish, note };

fn meaning(key: &str) -> Meaning {
    let label = |name: &str| Meaning::Kind(Kind::Label(name.to_owned()));
    match key {
        "EdgeStartTimestamp" => Meaning::Moment(Stamped::Start),
        "EdgeEndTimestamp" => Meaning::None,
        key if key.ends_with("DurationMs") || key.ends_with("TimeMs") || key == "EdgeTimeToFirstByteMs" => {
            Meaning::None
        }
        "EdgeResponseStatus" => Meaning::Kind(Kind::Status),
        "EdgeResponseBodyBytes" => Meaning::Kind(Kind::Bytes),
        "CacheCacheStatus" => Meaning::Kind(Kind::Cache),
        "EdgeColoCode" => Meaning::Kind(Kind::Tier),
        "ClientRequestPath" => Meaning::Kind(Kind::Path),
        "ClientRequestHost" => label("host"),
        "ClientRequestMethod" => label("method"),
        "ClientRequestProtocol" => label("protocol"),
        "ClientIP" => label("remote_addr"),
        "ClientCountry" => label("country"),
        key => label(key),
    }
}

fn finish(object: &Object, found: &mut Fields<'_>) -> Result<(), Wrong> {
    let start = object.get("EdgeStartTimestamp").and_then(instant).ok_or(("EdgeStartTimestamp", A_TIME))?;
    if let Some(end) = object.get("EdgeEndTimestamp") {
        let end = instant(end).ok_or(("EdgeEndTimestamp", A_TIME))?;
        let is_fine = start.1 < 1_000_000_000 && end.1 < 1_000_000_000;
        match end.0.checked_sub(start.0) {
            Some(ns) if is_fine => {
                found.exact.push((Metric::Latency, ns as f64 / 1e6));
                found.sample.latency_ns = Some(ns);
            }
            None if is_fine => return Err(("EdgeEndTimestamp", "a time after EdgeStartTimestamp")),
            _ => {}
        }
    }
    if let Some(ttfb) = milliseconds(object, "EdgeTimeToFirstByteMs")? {
        // A sample's ttfb is the sum of its phases if it has a wait, and those are the origin's
        // here.
        found.exact.push((Metric::Ttfb, ttfb));
        found.sample.stated_ns.insert(Metric::Ttfb, nanoseconds(ttfb));
    }
    for (key, metric) in ORIGIN {
        if let Some(ms) = milliseconds(object, key)?.filter(|ms| *ms > 0.0) {
            found.duration(metric, ms);
        }
    }
    Ok(())
}

fn note(found: &Fields<'_>) -> Option<&'static str> {
    (found.resolution_ns >= 1_000_000_000).then_some(
        "The timestamps of this Logpush job are whole seconds, so there is no latency, only EdgeTimeToFirstByteMs as ttfb; with \
         timestamp_format unixnano there is.",
    )
}

fn milliseconds(object: &Object, key: &'static str) -> Result<Option<f64>, Wrong> {
    let Some(text) = object.get(key) else { return Ok(None) };
    // -1 means that nothing was measured.
    let value =
        text.parse::<f64>().ok().filter(|value| value.is_finite()).ok_or((key, Unit::Ms.expected()))?;
    if value < 0.0 {
        return Ok(None);
    }
    Unit::Ms.milliseconds(value).map(Some).ok_or((key, Unit::Ms.expected()))
}

const ORIGIN: [(&str, Metric); 6] = [
    ("OriginDNSResponseTimeMs", Metric::Dns),
    ("OriginTCPHandshakeDurationMs", Metric::Connect),
    ("OriginTLSHandshakeDurationMs", Metric::Tls),
    ("OriginRequestHeaderSendDurationMs", Metric::Send),
    ("OriginResponseHeaderReceiveDurationMs", Metric::Wait),
    ("OriginResponseDurationMs", Metric::Total),
];

const A_TIME: &str = "a date such as 2022-06-28T14:24:26Z, or a number since 1970";

#[cfg(test)]
mod tests {
    use crate::{AccessFormat, Format, Metric, read::json::testing::read};

    const LINE: &str = r#"{"CacheCacheStatus":"miss","ClientIP":"192.0.2.7","ClientRequestHost":"a.example","ClientRequestMethod":"GET","ClientRequestPath":"/x","ClientRequestURI":"/x?y=1","EdgeColoCode":"FRA","EdgeEndTimestamp":1656426266506000000,"EdgeResponseBodyBytes":863,"EdgeResponseBytes":1893,"EdgeResponseStatus":200,"EdgeStartTimestamp":1656426266000000001,"EdgeTimeToFirstByteMs":480,"OriginDNSResponseTimeMs":0,"OriginResponseDurationMs":470,"OriginResponseHeaderReceiveDurationMs":420,"OriginTCPHandshakeDurationMs":20,"RayID":"72","RequestHeaders":{"a":"b"}}"#;

    #[test]
    fn with_timestamps_in_nanoseconds() {
        let kept = read(format!("{LINE}\n")).unwrap();
        assert_eq!(kept.format, Some(Format::Access(AccessFormat::Cloudflare)));
        let sample = &kept.samples[0];
        assert_eq!(sample.started_ns, Some(1_656_426_266_000_000_001));
        assert_eq!((sample.latency_ns, sample.get(Metric::Ttfb)), (Some(505_999_999), Some(480_000_000)));
        assert_eq!(
            [Metric::Dns, Metric::Connect, Metric::Wait, Metric::Total].map(|metric| sample.get(metric)),
            [None, Some(20_000_000), Some(420_000_000), Some(470_000_000)]
        );
        assert_eq!((sample.status, sample.body_bytes), (Some(200), Some(863)));
        assert_eq!((sample.cache.as_deref(), sample.tier.as_deref()), (Some("miss"), Some("FRA")));
        assert_eq!(
            (sample.label("path").as_deref(), sample.label("host").as_deref()),
            (Some("/x"), Some("a.example"))
        );
    }

    #[test]
    fn with_timestamps_in_seconds() {
        let dated = LINE
            .replace("1656426266506000000", "\"2022-06-28T14:24:27Z\"")
            .replace("1656426266000000001", "\"2022-06-28T14:24:26Z\"");
        let kept = read(format!("{dated}\n")).unwrap();
        let sample = &kept.samples[0];
        assert_eq!((sample.latency_ns, sample.get(Metric::Ttfb)), (None, Some(480_000_000)));
        assert_eq!(sample.started_ns, Some(1_656_426_266_000_000_000));
        assert!(kept.warnings[0].contains("timestamp_format unixnano"), "{:?}", kept.warnings);
    }

    #[test]
    fn lines_that_are_broken() {
        let text = format!("{LINE}\n{}\n{{\"x\":1}}\n{LINE}\n", LINE.replace("480", "\"soon\""));
        let kept = read(&text).unwrap();
        assert_eq!(kept.numbers, [1, 4]);
        assert!(kept.warnings[0].starts_with("1 line is left out; it is line 2"), "{:?}", kept.warnings);
    }

    proptest::proptest! {
        #[test]
        fn garbled_lines_never_panic(bytes in crate::read::json::testing::damaged(LINE)) {
            drop(read(bytes));
        }
    }
}
