//! Bit rates.

use std::{fmt, str::FromStr, time::Duration};

use crate::{
    Error,
    number::{self, Form},
};

/// A line rate in bits per second, at least 1. An unlimited rate is `None`, never a rate of 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bitrate(u64);

impl Bitrate {
    /// A rate of `bits` per second; `None` for 0.
    pub fn from_bits_per_second(bits: u64) -> Option<Self> {
        (bits > 0).then_some(Self(bits))
    }

    /// Bits per second.
    pub fn bits_per_second(self) -> u64 {
        self.0
    }

    /// The transmission time of `bytes`, rounded down to a nanosecond.
    pub fn time_for(self, bytes: u64) -> Duration {
        let nanos = u128::from(bytes) * 8 * NANOS_PER_SECOND / u128::from(self.0);
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// The number of whole bytes transmitted in `time`.
    pub fn bytes_in(self, time: Duration) -> u64 {
        let bytes = time.as_nanos() * u128::from(self.0) / 8 / NANOS_PER_SECOND;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

impl FromStr for Bitrate {
    type Err = Error;

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "Form bounds it to 0..=1e12")]
    fn from_str(text: &str) -> Result<Self, Error> {
        let bits = FORM.parse(text)?.round() as u64;
        Self::from_bits_per_second(bits)
            .ok_or_else(|| Error::Range { text: text.to_owned(), limit: FORM.limit })
    }
}

impl fmt::Display for Bitrate {
    #[expect(clippy::cast_precision_loss, reason = "rates are bounded to 1e12, far below 2^53")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        number::show(f, self.0 as f64, &[("Gbit", 1e9), ("Mbit", 1e6), ("Kbit", 1e3), ("bit", 1.0)])
    }
}

crate::serde_as_text!(Bitrate);

const NANOS_PER_SECOND: u128 = 1_000_000_000;

const FORM: Form = Form {
    units: &[
        ("bit", 1.0),
        ("bps", 1.0),
        ("bit/s", 1.0),
        ("kbit", 1e3),
        ("kbps", 1e3),
        ("kbit/s", 1e3),
        ("mbit", 1e6),
        ("mbps", 1e6),
        ("mbit/s", 1e6),
        ("gbit", 1e9),
        ("gbps", 1e9),
        ("gbit/s", 1e9),
    ],
    expected: "bit, Kbit, Mbit, Gbit (a second)",
    example: "\"100Mbit\"",
    limit: "a rate must be from 1bit to 1000Gbit; leave it out for no limit",
    most: 1e12,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_and_bytes_are_inverse() {
        let rate: Bitrate = "1Gbit".parse().unwrap();
        // 1500 bytes are 12 000 bits: 12 us at 1 Gbit/s.
        assert_eq!(rate.time_for(1500), Duration::from_micros(12));
        assert_eq!(rate.bytes_in(Duration::from_micros(12)), 1500);
    }

    #[test]
    fn spellings() {
        for text in ["2500000bit", "2.5Mbit", "2.5 Mbit/s", "2500kbps", "2.5MBIT"] {
            assert_eq!(text.parse::<Bitrate>().unwrap().bits_per_second(), 2_500_000, "{text}");
        }
    }

    #[test]
    fn nonsense_says_what_was_expected() {
        let said = |text: &str| text.parse::<Bitrate>().unwrap_err().to_string();
        assert_eq!(
            said("10 parsecs"),
            "\"10 parsecs\" has the unknown unit \"parsecs\"; expected one of bit, Kbit, Mbit, Gbit (a second)"
        );
        assert!(said("fast").contains("does not start with a number"));
        assert!(said("-1Mbit").contains("out of range"));
        assert!(said("0Mbit").contains("leave it out for no limit"));
        assert!(said("5000Gbit").contains("out of range"));
        assert!(said("10").contains("no unit"));
    }
}
