//! Configuration of a link.

use std::{fmt, str::FromStr, sync::Arc, time::Duration};

use units::{Bitrate, Bytes, Probability};

use crate::{Discipline, Jitter, Loss, NameError, Trace, amount::Amount, trace::OPPORTUNITY_BYTES};

/// Configuration of one direction of a path.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Config {
    /// The transmission rate.
    pub rate: Rate,
    /// Time from the last bit's departure to its arrival.
    pub propagation: Duration,
    /// How the delay varies around the propagation time.
    pub jitter: Option<Jitter>,
    /// The queue limit. Without a rate there is no queue.
    pub queue: Limit,
    /// Which packet is next, and which are dropped early.
    pub discipline: Discipline,
    /// Mark packets that allow it instead of dropping them (RFC 3168).
    pub ecn: bool,
    /// Which segments are lost.
    pub loss: Loss,
    /// Probability of a duplicate, independent for each segment.
    pub duplicate: Probability,
    /// Probability of a bit error, independent for each segment.
    pub corrupt: Probability,
    /// Probability that a segment arrives without propagation delay.
    pub reorder: Probability,
    /// Framing bytes of each segment: 38 for Ethernet with preamble and gap.
    pub overhead: u32,
    /// How segments of a super-packet reach the receiver.
    pub receive: Receive,
}

impl Config {
    /// The minimum propagation delay, with jitter.
    pub fn least_propagation(&self) -> Duration {
        self.jitter.as_ref().map_or(self.propagation, |jitter| jitter.least(self.propagation))
    }

    pub(crate) fn capacity(&self) -> Amount {
        let bytes = |bytes| Amount { bytes, ..Amount::MAX };
        match self.queue {
            _ if self.rate == Rate::Unlimited => Amount::MAX,
            Limit::Usual => {
                bytes(self.bytes_in(USUAL).max(FEW * (OPPORTUNITY_BYTES + u64::from(self.overhead))))
            }
            Limit::Bytes(Bytes(most)) => bytes(most),
            Limit::Time(time) => bytes(self.bytes_in(time)),
            Limit::Packets(packets) => Amount { segments: packets.into(), ..Amount::MAX },
        }
    }

    fn bytes_in(&self, time: Duration) -> u64 {
        match &self.rate {
            Rate::Unlimited => u64::MAX,
            Rate::Constant(rate) => rate.bytes_in(time),
            // A trace's opportunities count IP packets; framing is added.
            Rate::Trace(trace) => {
                let ip = u128::from(trace.mean_rate().bytes_in(time));
                let framed = ip * u128::from(OPPORTUNITY_BYTES + u64::from(self.overhead))
                    / u128::from(OPPORTUNITY_BYTES);
                u64::try_from(framed).unwrap_or(u64::MAX)
            }
        }
    }
}

/// The transmission rate of a link.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Rate {
    /// Unlimited: the link is never busy.
    #[default]
    Unlimited,
    /// A constant rate.
    Constant(Bitrate),
    /// The opportunities of a recorded link.
    Trace(Arc<Trace>),
}

impl Rate {
    /// `None` if unlimited. The rate of a trace excludes the link's overhead.
    pub fn mean(&self) -> Option<Bitrate> {
        match self {
            Self::Unlimited => None,
            Self::Constant(rate) => Some(*rate),
            Self::Trace(trace) => Some(trace.mean_rate()),
        }
    }
}

/// The limit of a queue, written "6MB", "50ms" or "1000p".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Limit {
    /// 100 ms, but at least four full packets.
    #[default]
    Usual,
    /// Bytes on the link, headers and overhead included.
    Bytes(Bytes),
    /// The bytes that the rate sends in this time.
    Time(Duration),
    /// Segments of any size, without the segment in transmission.
    Packets(u32),
}

impl FromStr for Limit {
    type Err = units::Error;

    fn from_str(text: &str) -> Result<Self, units::Error> {
        if let Some(Ok(packets)) = text.trim().strip_suffix('p').map(|count| count.trim_end().parse()) {
            return Ok(Self::Packets(packets));
        }
        match units::duration::parse(text) {
            Ok(time) => Ok(Self::Time(time)),
            Err(units::Error::Unit { text, unit, .. }) => match text.parse() {
                Ok(bytes) => Ok(Self::Bytes(bytes)),
                Err(units::Error::Range { text, limit }) => Err(units::Error::Range { text, limit }),
                Err(_) => Err(units::Error::Unit {
                    text,
                    unit,
                    expected: "a time (us, ms, s), an amount (B, KB, MB, KiB, MiB) or a number of packets (p)",
                }),
            },
            Err(other) => Err(other),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usual => f.write_str(&units::duration::show(USUAL)),
            Self::Bytes(bytes) => bytes.fmt(f),
            Self::Time(time) => f.write_str(&units::duration::show(*time)),
            Self::Packets(packets) => write!(f, "{packets}p"),
        }
    }
}

/// How the segments of a super-packet reach the receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Receive {
    /// Coalesced as a network card does: 200 us of transmission, or the segments of one millisecond
    /// of a trace.
    #[default]
    Slice,
    /// Each segment separately.
    Segment,
    /// As the sender's kernel sends them, up to 64 KB.
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

impl FromStr for Receive {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let known = [Self::Slice, Self::Segment, Self::Gso];
        let found = known.into_iter().find(|receive| receive.name() == text);
        found.ok_or_else(|| NameError::new("way to receive", text, "slice, segment or gso"))
    }
}

impl fmt::Display for Receive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A slice holds at most this much transmission time, but at least one segment. 200 us is 25 KB at 1
/// Gbit/s, about what a card's interrupt moderation coalesces, and less than one 1500-byte packet below 60
/// Mbit/s.
pub const SLICE_TIME: Duration = Duration::from_micros(200);

/// With less room than one packet, a link passes only packets that find it idle, so at least `FEW`
/// packets.
const USUAL: Duration = Duration::from_millis(100);
const FEW: u64 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_time_or_bytes() {
        assert_eq!("50ms".parse(), Ok(Limit::Time(Duration::from_millis(50))));
        assert_eq!("6MB".parse(), Ok(Limit::Bytes(Bytes(6_000_000))));
        let said = "6 parsecs".parse::<Limit>().unwrap_err().to_string();
        assert!(
            said.ends_with("expected one of a time (us, ms, s), an amount (B, KB, MB, KiB, MiB) or a number of packets (p)"),
            "{said}"
        );
        assert!("-3ms".parse::<Limit>().is_err());
    }

    #[test]
    fn a_limit_prints_what_parses_back() {
        for limit in
            [Limit::Bytes(Bytes(6_000_000)), Limit::Time(Duration::from_millis(50)), Limit::Packets(1000)]
        {
            assert_eq!(limit.to_string().parse(), Ok(limit));
        }
    }

    #[test]
    fn a_time_becomes_bytes_by_the_rate() {
        let config = Config {
            rate: Rate::Constant("1Gbit".parse().unwrap()),
            queue: Limit::Time(Duration::from_millis(50)),
            ..Config::default()
        };
        assert_eq!(config.capacity(), Amount { segments: u64::MAX, bytes: 6_250_000 });
    }

    #[test]
    fn a_time_of_a_trace_counts_the_framing_like_that_of_a_rate() {
        // 12 Mbit/s of IP packets for 50 ms: fifty of 1500 bytes, each with 38 of framing.
        let config = |overhead| Config {
            rate: Rate::Trace(Arc::new(Trace::parse(b"1\n").unwrap())),
            queue: Limit::Time(Duration::from_millis(50)),
            overhead,
            ..Config::default()
        };
        assert_eq!(config(38).capacity().bytes, 50 * 1538);
        assert_eq!(config(0).capacity().bytes, 50 * 1500);
    }

    #[test]
    fn a_slow_link_has_room_for_some_packets_unless_somebody_says_otherwise() {
        let config = |rate: &str, queue| Config {
            rate: Rate::Constant(rate.parse().unwrap()),
            queue,
            overhead: 38,
            ..Config::default()
        };
        // 100 ms at 10 Kbit/s are 125 bytes.
        assert_eq!(config("10Kbit", Limit::default()).capacity().bytes, 4 * 1538);
        assert_eq!(config("10Kbit", Limit::Time(USUAL)).capacity().bytes, 125);
        // At 1 Mbit/s they are 12 500 bytes, eight packets.
        assert_eq!(config("1Mbit", Limit::default()).capacity().bytes, 12_500);
    }
}
