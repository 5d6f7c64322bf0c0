//! What a claim speaks of: a number of requests, outages, transfers, pings or of what a command printed, and the unit that
//! it is in. Pure.

use std::{fmt, str::FromStr};

use units::{Bitrate, Bytes, Frequency, Probability, duration};

use crate::{
    json,
    measure::{Measure, Statistic},
};

/// What a claim speaks of.
#[derive(Debug, Clone, PartialEq)]
pub enum Subject {
    /// A number of requests, in the scenario's metric.
    Requests(Measure),
    /// The share of page views that are faster than those of this side; two equal ones count half.
    FasterThan(String),
    /// The share of connections that came from another address than the one tried first.
    Fallback,
    /// The longest time without an answer at a host, over the hosts of a side.
    Outage(OverHosts),
    /// The longest time in which nothing of a transfer arrived.
    Stall,
    /// How long a transfer took its sender, until it knew that all had arrived.
    Duration,
    /// What transfers brought, a second.
    Goodput,
    /// The most memory that the sender's kernel held for a transfer.
    Memory,
    /// Bytes that did not arrive as they were sent.
    Lost,
    /// The share of pings that were answered.
    Answered,
    /// By how much a round trip that was measured differs from the world's.
    PingError(OverPings),
    /// A number in the JSON that a command printed.
    Printed(json::Path),
}

/// A number of a distribution over hosts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OverHosts(pub(crate) Statistic);

/// A number of a distribution over pings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OverPings(pub(crate) Statistic);

/// What measures a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// `[[probe]]`.
    Probe,
    /// `[[transfer]]`.
    Transfer,
    /// `[[ping]]`.
    Ping,
    /// `[[command]]`.
    Command,
}

/// Which of two values is the faster one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Faster {
    /// The smaller.
    Less,
    /// The larger.
    More,
}

/// What a subject is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Milliseconds.
    Time,
    /// Bits a second.
    Rate,
    /// Bytes.
    Size,
    /// A share, 0..=1.
    Share,
    /// Times a second.
    Frequency,
    /// Nothing: a plain number.
    Number,
}

impl Subject {
    /// What measures it.
    pub fn source(&self) -> Source {
        match self {
            Self::Requests(_) | Self::FasterThan(_) | Self::Fallback | Self::Outage(_) => Source::Probe,
            Self::Stall | Self::Duration | Self::Goodput | Self::Memory | Self::Lost => Source::Transfer,
            Self::Answered | Self::PingError(_) => Source::Ping,
            Self::Printed(_) => Source::Command,
        }
    }

    /// What it is counted in.
    pub fn unit(&self) -> Unit {
        match self {
            Self::Requests(_) | Self::Outage(_) | Self::Stall | Self::Duration | Self::PingError(_) => {
                Unit::Time
            }
            Self::Goodput => Unit::Rate,
            Self::Memory | Self::Lost => Unit::Size,
            Self::Answered | Self::FasterThan(_) | Self::Fallback => Unit::Share,
            Self::Printed(path) => path.unit(),
        }
    }

    /// A value with its unit, with as many digits as count.
    pub(crate) fn show(&self, value: f64) -> String {
        match self {
            // An estimate, not a count; rounded down, for nearly all is not all.
            Self::FasterThan(_) => format!("{:.1} %", (value * 1e3).floor() / 10.0),
            _ => self.unit().show(value),
        }
    }
}

impl Source {
    /// "probe", as its table is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Probe => "probe",
            Self::Transfer => "transfer",
            Self::Ping => "ping",
            Self::Command => "command",
        }
    }
}

impl Unit {
    /// What a person writes as "2s", "50Mbit", "0B", "100%", "300/s" or "12".
    pub(crate) fn parse(self, text: &str) -> Result<f64, String> {
        let value: Result<f64, units::Error> = match self {
            Self::Time => duration::parse(text).map(|time| time.as_secs_f64() * 1e3),
            Self::Rate => text.parse().map(|rate: Bitrate| as_f64(rate.bits_per_second())),
            Self::Size => text.parse().map(|size: Bytes| as_f64(size.0)),
            Self::Share => text.parse().map(Probability::get),
            Self::Frequency => text.parse().map(Frequency::per_second),
            Self::Number => {
                let number = text.parse().ok().filter(|number: &f64| number.is_finite());
                return number
                    .ok_or_else(|| format!("\"{text}\" is no plain number, such as \"12\" or \"0.5\""));
            }
        };
        value.map_err(|error| error.to_string())
    }

    /// Whether more of it is faster, or less; `None` if it says nothing of speed.
    pub(crate) fn faster(self) -> Option<Faster> {
        match self {
            Self::Time => Some(Faster::Less),
            Self::Rate | Self::Frequency => Some(Faster::More),
            Self::Size | Self::Share | Self::Number => None,
        }
    }

    /// A value with its unit, with as many digits as count.
    pub(crate) fn show(self, value: f64) -> String {
        match self {
            Self::Time if 0.0 < value && value < 1.0 => format!("{:.1} us", value * 1e3),
            Self::Time if value < 1000.0 => format!("{value:.1} ms"),
            Self::Time => format!("{:.2} s", value / 1e3),
            Self::Rate => format!("{:.1} Mbit/s", value / 1e6),
            Self::Size if value < 1e7 => format!("{value:.0} bytes"),
            Self::Size => format!("{:.1} MB", value / 1e6),
            // Not rounded: 99.999 % is not all.
            Self::Share => format!("{} %", (value * 1e8).floor() / 1e6),
            Self::Frequency => format!("{value:.0}/s"),
            Self::Number => value.to_string(),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "units bounds both below 2^53")]
fn as_f64(number: u64) -> f64 {
    number as f64
}

impl FromStr for Subject {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = match text {
            "transfer.stall" => Some(Self::Stall),
            "transfer.duration" => Some(Self::Duration),
            "transfer.goodput" => Some(Self::Goodput),
            "transfer.memory" => Some(Self::Memory),
            "transfer.lost" => Some(Self::Lost),
            "ping.answered" => Some(Self::Answered),
            "connections.fallback" => Some(Self::Fallback),
            _ if text.starts_with("json") => return text.parse().map(Self::Printed),
            _ => {
                let side = text.strip_prefix("experienced.faster_than.").filter(|side| !side.is_empty());
                if let Some(side) = side {
                    return Ok(Self::FasterThan(side.to_owned()));
                }
                let over = |prefix| text.strip_prefix(prefix).and_then(Statistic::parse);
                let outage = over("outage.").map(|over| Self::Outage(OverHosts(over)));
                outage
                    .or_else(|| over("ping.error.").map(|over| Self::PingError(OverPings(over))))
                    .or_else(|| text.parse().ok().map(Self::Requests))
            }
        };
        found.ok_or_else(|| {
            format!(
                "\"{text}\" is no measure; expected request., experienced., outage. or ping.error. with mean, max or a \
                 percentile such as p99.9, experienced.faster_than. with a side, connections.fallback, transfer.stall, \
                 transfer.duration, transfer.goodput, transfer.memory, transfer.lost, ping.answered, or json. with a place in \
                 what a command prints"
            )
        })
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Requests(measure) => measure.fmt(f),
            Self::Outage(OverHosts(over)) => write!(f, "outage.{over}"),
            Self::FasterThan(side) => write!(f, "experienced.faster_than.{side}"),
            Self::Fallback => f.write_str("connections.fallback"),
            Self::Stall => f.write_str("transfer.stall"),
            Self::Duration => f.write_str("transfer.duration"),
            Self::Goodput => f.write_str("transfer.goodput"),
            Self::Memory => f.write_str("transfer.memory"),
            Self::Lost => f.write_str("transfer.lost"),
            Self::Answered => f.write_str("ping.answered"),
            Self::PingError(OverPings(over)) => write!(f, "ping.error.{over}"),
            Self::Printed(path) => path.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_read_and_printed() {
        for text in [
            "request.p50",
            "experienced.mean",
            "experienced.faster_than.other.side",
            "connections.fallback",
            "outage.max",
            "outage.p50",
            "transfer.stall",
            "transfer.duration",
            "transfer.goodput",
            "transfer.memory",
            "transfer.lost",
            "ping.answered",
            "ping.error.p99",
            "json.runs[name=first].restart_s",
        ] {
            assert_eq!(text.parse::<Subject>().unwrap().to_string(), text);
        }
        for text in
            ["outage", "outage.p100", "transfer.p50", "ping.error", "stall", "experienced.faster_than."]
        {
            assert!(text.parse::<Subject>().unwrap_err().contains("is no measure"), "{text}");
        }
    }

    #[test]
    fn values_have_the_unit_of_their_subject() {
        assert_eq!(Unit::Time.parse("2s").unwrap(), 2000.0);
        assert_eq!(Unit::Rate.parse("50Mbit").unwrap(), 5e7);
        assert_eq!(Unit::Size.parse("0B").unwrap(), 0.0);
        assert_eq!(Unit::Share.parse("100%").unwrap(), 1.0);
        assert_eq!(Unit::Frequency.parse("600/min").unwrap(), 10.0);
        assert_eq!(Unit::Number.parse("-0.5").unwrap(), -0.5);
        assert!(Unit::Size.parse("2s").unwrap_err().contains("expected one of B, KB"));
        for text in ["2s", "inf", ""] {
            assert!(Unit::Number.parse(text).unwrap_err().contains("is no plain number"), "{text}");
        }
    }

    #[test]
    fn nearly_all_is_not_all() {
        assert_eq!(Unit::Share.show(89_699.0 / 89_700.0), "99.998885 %");
        assert_eq!(Unit::Share.show(1.0), "100 %");
        assert_eq!(Unit::Time.show(0.0124), "12.4 us");
        assert_eq!(Unit::Time.show(0.0), "0.0 ms");
        assert_eq!(Unit::Time.show(1.0), "1.0 ms");
        assert_eq!(Unit::Time.show(999.0), "999.0 ms");
        assert_eq!(Unit::Time.show(15_204.0), "15.20 s");
        assert_eq!(Unit::Rate.show(9_430_000.0), "9.4 Mbit/s");
        assert_eq!(Unit::Size.show(9_999_999.0), "9999999 bytes");
        assert_eq!(Unit::Size.show(359_816_060.0), "359.8 MB");
    }
}
