//! Durations, as `std::time::Duration`.

use std::time::Duration;

use serde::{Deserializer, Serializer};

use crate::{Error, number::Form, text::Text};

/// Reads "300ms", "1.5s", "20us", "2min", "1h30m". Not negative, at most ten years, with nanosecond
/// resolution.
pub fn parse(text: &str) -> Result<Duration, Error> {
    FORM.parse_sum(text).map(|nanos| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "Form bounds it to 0..=3.2e17"
        )]
        Duration::from_nanos(nanos.round() as u64)
    })
}

/// Formats a duration such as "1.5s"; [`parse`] reads it back.
pub fn show(duration: Duration) -> String {
    let nanos = duration.as_nanos();
    let (unit, scale) = match nanos {
        0 => return "0ms".to_owned(),
        n if n >= 1_000_000_000 => ("s", 1_000_000_000),
        n if n >= 1_000_000 => ("ms", 1_000_000),
        n if n >= 1_000 => ("us", 1_000),
        _ => ("ns", 1),
    };
    let (whole, rest) = (nanos / scale, nanos % scale);
    if rest == 0 {
        return format!("{whole}{unit}");
    }
    let digits = scale.ilog10() as usize;
    let rest = format!("{rest:0digits$}");
    format!("{whole}.{}{unit}", rest.trim_end_matches('0'))
}

/// For `#[serde(with = "units::duration")]`.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    deserializer.deserialize_str(Text { parse, example: FORM.example })
}

/// For `#[serde(with = "units::duration")]`.
pub fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&show(*duration))
}

/// For `#[serde(with = "units::duration::option")]` on a field that may be absent.
pub mod option {
    use super::{Deserializer, Duration, Serializer};

    /// Reads a duration that is present.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        super::deserialize(deserializer).map(Some)
    }

    /// Writes a duration, or none.
    pub fn serialize<S: Serializer>(duration: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        match duration {
            Some(duration) => super::serialize(duration, serializer),
            None => serializer.serialize_none(),
        }
    }
}

const FORM: Form = Form {
    units: &[
        ("ns", 1.0),
        ("us", 1e3),
        ("\u{b5}s", 1e3),
        ("\u{3bc}s", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
        ("min", 60e9),
        // As in nginx, Go and Prometheus.
        ("m", 60e9),
        ("h", 3600e9),
        ("d", 86_400e9),
    ],
    expected: "ns, us, ms, s, min, h, d",
    example: "\"300ms\"",
    limit: "a duration must be from 0ms to ten years",
    most: 3.2e17,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings() {
        for (text, nanos) in [
            ("300ms", 300_000_000),
            ("1.5 s", 1_500_000_000),
            ("20us", 20_000),
            ("20\u{b5}s", 20_000),
            ("7ns", 7),
            ("2min", 120_000_000_000),
            ("2m", 120_000_000_000),
            ("1h30m", 5_400_000_000_000),
            ("1d 2h 3s", 93_603_000_000_000),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_nanos(nanos)), "{text}");
        }
        assert!(parse("-3ms").unwrap_err().to_string().contains("out of range"));
        assert!(parse("9y").unwrap_err().to_string().contains("ns, us, ms"));
        for text in ["30m1h", "1h1h", "1h-3m", "1h30", "1h m", "5y1h", "3650d1h 99999d"] {
            let message = parse(text).unwrap_err().to_string();
            assert!(message.contains(text), "{message}");
        }
        assert!(parse("3").unwrap_err().to_string().contains("no unit"));
        assert!(parse("").unwrap_err().to_string().contains("\"300ms\""));
    }

    #[test]
    fn shows_what_parses_back() {
        for nanos in [0, 7, 1_000, 1_500, 300_000_000, 300_000_001, 90_000_000_000, 36_250_000] {
            let duration = Duration::from_nanos(nanos);
            assert_eq!(parse(&show(duration)), Ok(duration), "{}", show(duration));
        }
        assert_eq!(show(Duration::from_micros(36_250)), "36.25ms");
    }
}
