//! What a link is.

use std::{fmt, str::FromStr, time::Duration};

use units::{Bitrate, Bytes, Probability};

/// One direction of one path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Config {
    /// How fast bits leave; `None` is a wire that is never busy.
    pub rate: Option<Bitrate>,
    /// Time from the last bit's departure to its arrival.
    pub propagation: Duration,
    /// How much may wait for the wire. Without a rate nothing ever waits.
    pub queue: Limit,
    /// Chance that a segment is lost, each independently.
    pub loss: Probability,
    /// Framing bytes on the wire for each segment: 38 for Ethernet with preamble and gap, 0 for bare IP.
    pub overhead: u32,
    /// How segments of a super-packet reach the receiver.
    pub receive: Receive,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            rate: None,
            propagation: Duration::ZERO,
            queue: Limit::default(),
            loss: Probability::ZERO,
            overhead: 0,
            receive: Receive::default(),
        }
    }
}

impl Config {
    /// The queue's limit in bytes; `None` without a rate.
    pub fn queue_bytes(&self) -> Option<u64> {
        self.rate.map(|rate| match self.queue {
            Limit::Bytes(Bytes(bytes)) => bytes,
            Limit::Time(time) => rate.bytes_in(time),
        })
    }
}

/// How much may wait in a queue, written "6MB" or "50ms".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Bytes on the wire, headers and overhead included.
    Bytes(Bytes),
    /// As many bytes as the rate sends in this time.
    Time(Duration),
}

impl Default for Limit {
    /// 100 ms: the order of a consumer line's or a port's buffer, and a round trip over an ocean.
    fn default() -> Self {
        Self::Time(Duration::from_millis(100))
    }
}

impl FromStr for Limit {
    type Err = units::Error;

    fn from_str(text: &str) -> Result<Self, units::Error> {
        match units::duration::parse(text) {
            Ok(time) => Ok(Self::Time(time)),
            Err(units::Error::Unit { text, unit, .. }) => match text.parse() {
                Ok(bytes) => Ok(Self::Bytes(bytes)),
                Err(units::Error::Range { text, limit }) => Err(units::Error::Range { text, limit }),
                Err(_) => Err(units::Error::Unit {
                    text,
                    unit,
                    expected: "a time (us, ms, s) or an amount (B, KB, MB, KiB, MiB)",
                }),
            },
            Err(other) => Err(other),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => bytes.fmt(f),
            Self::Time(time) => f.write_str(&units::duration::show(*time)),
        }
    }
}

/// How the segments of a super-packet reach the receiver. It changes how the receiver's memory is used and how many
/// acknowledgements it sends, and so TCP's behaviour: it is part of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Receive {
    /// Together as far as a network card's own coalescing would keep them: see [`SLICE_TIME`].
    #[default]
    Slice,
    /// Each on its own.
    Segment,
    /// As the sender's kernel made them, up to 64 KB at once.
    Gso,
}

impl Receive {
    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Slice => "slice",
            Self::Segment => "segment",
            Self::Gso => "gso",
        }
    }
}

/// A slice holds at most this much time of wire, but at least one segment. 200 us is 25 KB at 1 Gbit/s, about what a
/// card's interrupt moderation coalesces, and less than one 1500-byte packet below 60 Mbit/s.
pub const SLICE_TIME: Duration = Duration::from_micros(200);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_time_or_bytes() {
        assert_eq!("50ms".parse(), Ok(Limit::Time(Duration::from_millis(50))));
        assert_eq!("6MB".parse(), Ok(Limit::Bytes(Bytes(6_000_000))));
        let said = "6 parsecs".parse::<Limit>().unwrap_err().to_string();
        assert!(
            said.ends_with("expected one of a time (us, ms, s) or an amount (B, KB, MB, KiB, MiB)"),
            "{said}"
        );
        assert!("-3ms".parse::<Limit>().is_err());
    }

    #[test]
    fn a_time_becomes_bytes_by_the_rate() {
        let config = Config {
            rate: Some("1Gbit".parse().unwrap()),
            queue: Limit::Time(Duration::from_millis(50)),
            ..Config::default()
        };
        assert_eq!(config.queue_bytes(), Some(6_250_000));
    }
}
