//! The unit of a time in a file that writes plain numbers.

use crate::error::Unknown;

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
}

impl Unit {
    /// Splits "latency_ms" into "latency" and milliseconds.
    pub(crate) fn of(name: &str) -> Option<(&str, Self)> {
        let units = [("_ns", Self::Ns), ("_us", Self::Us), ("_ms", Self::Ms), ("_s", Self::S)];
        units.into_iter().find_map(|(suffix, unit)| Some((name.strip_suffix(suffix)?, unit)))
    }

    /// `None` above 1e15 ms. Divides where it can: 1e3 and 1e6 are exact, their inverses are not.
    pub(crate) fn milliseconds(self, value: f64) -> Option<f64> {
        let milliseconds = match self {
            Self::Ns => value / 1e6,
            Self::Us => value / 1e3,
            Self::Ms => value,
            Self::S => value * 1e3,
        };
        (milliseconds <= MOST_MS).then_some(milliseconds)
    }

    pub(crate) fn per_second(self) -> u32 {
        match self {
            Self::Ns => 1_000_000_000,
            Self::Us => 1_000_000,
            Self::Ms => 1000,
            Self::S => 1,
        }
    }

    pub(crate) fn expected(self) -> &'static str {
        match self {
            Self::Ns => "a number of nanoseconds from 0 to 1e21",
            Self::Us => "a number of microseconds from 0 to 1e18",
            Self::Ms => "a number of milliseconds from 0 to 1e15",
            Self::S => "a number of seconds from 0 to 1e12",
        }
    }
}

impl std::str::FromStr for Unit {
    type Err = Unknown;

    fn from_str(text: &str) -> Result<Self, Unknown> {
        match text {
            "ns" => Ok(Self::Ns),
            "us" | "\u{b5}s" => Ok(Self::Us),
            "ms" => Ok(Self::Ms),
            "s" => Ok(Self::S),
            _ => Err(Unknown { what: "unit of time", found: text.to_owned(), expected: "ns, us, ms or s" }),
        }
    }
}

/// Rounded; too large values are the maximum of `u64`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturating, as documented")]
pub(crate) fn nanoseconds(milliseconds: f64) -> u64 {
    // Less exact than round() above 2^52 ns, which is 52 days, and much faster.
    (milliseconds * 1e6 + 0.5) as u64
}

/// 30 000 years, of latency or since 1970: more is a unit mistaken, or garbage.
pub(crate) const MOST_MS: f64 = 1e15;
