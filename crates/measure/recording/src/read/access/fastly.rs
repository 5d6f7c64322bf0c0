//! Fastly's real-time logs as JSON, with the keys of its documentation.
//!
//! `time_elapsed` is in microseconds there. Some logs have `time.elapsed` instead, seconds with
//! three decimals: a number with a point is in seconds.

use super::{
    fields::Fields,
    format::{Kind, Scale, Stamped},
    object::{Keys, Meaning, Object, Wrong},
};
use crate::{Metric, Unit};

pub(super) static KEYS: Keys = Keys { required: &[], meaning, finish, note };

/// The unit is that of a number without a point.
pub(super) const DURATIONS: [(&str, Metric, Scale); 7] = [
    ("time_elapsed", Metric::Latency, Scale::Default(Unit::Us)),
    ("time_elapsed_usec", Metric::Latency, Scale::Fixed(Unit::Us)),
    ("time_elapsed_us", Metric::Latency, Scale::Fixed(Unit::Us)),
    ("time_elapsed_msec", Metric::Latency, Scale::Fixed(Unit::Ms)),
    ("time_elapsed_ms", Metric::Latency, Scale::Fixed(Unit::Ms)),
    ("time_to_first_byte", Metric::Ttfb, Scale::Proven),
    ("ttfb", Metric::Ttfb, Scale::Proven),
];

fn meaning(key: &str) -> Meaning {
    let label = |name: &str| Meaning::Kind(Kind::Label(name.to_owned()));
    match key {
        "timestamp" | "time_start" => Meaning::Moment(Stamped::Start),
        key if DURATIONS.iter().any(|(name, ..)| *name == key) => Meaning::None,
        "response_status" | "resp_status" | "status" => Meaning::Kind(Kind::Status),
        "response_body_size" | "resp_body_size" => Meaning::Kind(Kind::Bytes),
        "url" => Meaning::Kind(Kind::Path),
        "request" | "request_method" => label("method"),
        "request_protocol" => label("protocol"),
        "client_ip" => label("remote_addr"),
        "cache_status" | "response_state" | "fastly_info_state" => Meaning::Kind(Kind::Cache),
        "server_datacenter" | "pop_datacenter" | "pop" => Meaning::Kind(Kind::Tier),
        key => label(key),
    }
}

fn note(found: &Fields<'_>) -> Option<&'static str> {
    let note = "A time_elapsed without a point is read as microseconds, as Fastly's formats have it (time.elapsed.usec); give the \
                unit (--unit) if the format has another.";
    (!found.is_unit_given()).then_some(note)
}

fn finish(object: &Object, found: &mut Fields<'_>) -> Result<(), Wrong> {
    for (key, metric, scale) in DURATIONS {
        let Some(text) = object.get(key) else { continue };
        let is_known = found.exact.iter().any(|(known, _)| *known == metric);
        if is_known {
            continue;
        }
        // A whole number without a unit in its name may be anything.
        let is_of_vcl = text.contains('.') && !matches!(scale, Scale::Fixed(_));
        let scale = if is_of_vcl { Scale::Fixed(Unit::S) } else { scale };
        let unit = found.unit(scale, text.as_bytes());
        let wrong = (key, unit.expected());
        let value = super::fields::number(text.as_bytes()).ok_or(wrong)?;
        found.duration(metric, unit.milliseconds(value).ok_or(wrong)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::{
        AccessFormat, Format, Options, Unit,
        read::json::testing::{read, read_with},
    };

    const LINE: &str = r#"{"timestamp":"2025-03-14T09:26:53+0000","time_elapsed":12345,"is_tls":true,"client_ip":"192.0.2.7","geo_city":"oslo","request":"GET","host":"a.example","url":"/x?y=1","response_status":200,"resp_body_size":512,"time_to_first_byte":"0.012","server_datacenter":"OSL","cache_status":"HIT"}"#;

    #[test]
    fn microseconds_and_seconds() {
        let kept = read(format!("{LINE}\n")).unwrap();
        assert_eq!(kept.format, Some(Format::Access(AccessFormat::Fastly)));
        let sample = &kept.samples[0];
        assert_eq!((sample.latency_ns, sample.ttfb_ns), (Some(12_345_000), Some(12_000_000)));
        assert_eq!(sample.started_ns, Some(1_741_944_413_000_000_000));
        assert_eq!((sample.status, sample.body_bytes), (Some(200), Some(512)));
        assert_eq!((sample.cache.as_deref(), sample.tier.as_deref()), (Some("hit"), Some("OSL")));
        assert_eq!(
            (sample.label("path").as_deref(), sample.label("method").as_deref()),
            (Some("/x"), Some("GET"))
        );
        assert!(kept.warnings[0].contains("read as microseconds"), "{:?}", kept.warnings);
        let latency = |from: &str, to: &str, unit| {
            let options = Options { unit, ..Options::default() };
            read_with(LINE.replace(from, to) + "\n", &options).unwrap().samples[0].latency_ns
        };
        assert_eq!(latency("12345", "0.012", None), Some(12_000_000));
        assert_eq!(latency("12345", "12", Some(Unit::Ms)), Some(12_000_000));
        assert_eq!(latency("time_elapsed\":12345", "time_elapsed_msec\":12", None), Some(12_000_000));
    }

    proptest::proptest! {
        #[test]
        fn garbled_lines_never_panic(bytes in crate::read::json::testing::damaged(LINE)) {
            drop(read(bytes));
        }
    }
}
