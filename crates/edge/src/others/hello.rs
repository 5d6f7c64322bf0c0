//! Heartbeats between data centres. They also exchange connect times to origins and chosen upper tiers.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hello {
    /// The network of the sender.
    pub(crate) network: String,
    /// The process of the receiver from which the sender has samples; 0 for no process.
    pub(crate) process: u64,
    /// The number of the first sample that the sender lacks.
    pub(crate) from: u64,
}

/// A heartbeat response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// The network of the sender.
    pub network: String,
    /// Identifies the sender's process; it changes with each start.
    pub process: u64,
    /// The number of the next sample, after these.
    pub next: u64,
    /// The new samples by origin.
    pub origins: Vec<OfOrigin>,
    /// The upper tiers that the sender has chosen by measurement.
    #[serde(default)]
    pub choices: Vec<OfZone>,
}

/// The upper tier of a zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfZone {
    /// The name of the zone.
    pub zone: String,
    /// The name of the data centre.
    pub upper: String,
}

/// Connect times to an origin, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfOrigin {
    /// The scheme, host and port.
    pub origin: String,
    /// The samples.
    pub samples: Vec<Sample>,
}

/// A connect time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// The age of the sample, ms. An age does not depend on clock differences between data centres.
    pub age_ms: u64,
    /// The time from SYN to SYN-ACK, µs.
    pub connect_us: u64,
}

impl Hello {
    pub(crate) fn target(&self) -> String {
        let Self { network, process, from } = self;
        format!("/?network={network}&process={process}&from={from}")
    }

    pub(crate) fn read(query: &str) -> Option<Self> {
        let field =
            |name: &str| query.split('&').find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
        Some(Self {
            network: field("network")?.to_owned(),
            process: field("process")?.parse().ok()?,
            from: field("from")?.parse().ok()?,
        })
    }
}

impl Told {
    /// The maximum size of a response, bytes: a thousand origins with all samples are 2 MB.
    pub const LONGEST: usize = 4 << 20;

    /// Parses a response; `None` if it is invalid or exceeds a limit.
    pub fn read(text: &[u8]) -> Option<Self> {
        let text = Some(text).filter(|text| text.len() <= Self::LONGEST)?;
        let told: Self = serde_json::from_slice(text).ok()?;
        let is_bounded = |of: &OfOrigin| of.samples.len() <= MOST_TOLD;
        let is_short = told.origins.len() <= MOST_ORIGINS && told.choices.len() <= MOST_CHOICES;
        (is_short && told.origins.iter().all(is_bounded)).then_some(told)
    }
}

/// The maximum number of measured origins. Each costs one connection per minute, and 300 data centres report
/// it.
pub(super) const MOST_ORIGINS: usize = 1000;

pub(super) const MOST_CHOICES: usize = 10_000;

/// The maximum number of reported samples per origin: the number that `tiers` keeps.
pub(super) const MOST_TOLD: usize = 31;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_read_as_it_was_written() {
        let hello = Hello { network: "shop.example".into(), process: 7, from: 9 };
        let target = hello.target();
        assert_eq!(Hello::read(target.split_once('?').unwrap().1), Some(hello));
        for wrong in ["", "network=a&process=1", "network=a&process=x&from=1"] {
            assert_eq!(Hello::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_answer_that_tells_more_than_there_can_be_is_none() {
        let of = |samples| OfOrigin {
            origin: "https://a".into(),
            samples: vec![Sample { age_ms: 1, connect_us: 2 }; samples],
        };
        let told = |origins| Told { network: "n".into(), process: 1, next: 2, origins, choices: Vec::new() };
        let read = |told: &Told| Told::read(&serde_json::to_vec(told).unwrap());
        assert_eq!(read(&told(vec![of(MOST_TOLD)])), Some(told(vec![of(MOST_TOLD)])));
        assert_eq!(read(&told(vec![of(MOST_TOLD + 1)])), None);
        let choices = |choices| {
            let of_zone = OfZone { zone: "z".into(), upper: "lhr".into() };
            Told { choices: vec![of_zone; choices], ..told(Vec::new()) }
        };
        assert_eq!(read(&choices(MOST_CHOICES)), Some(choices(MOST_CHOICES)));
        assert_eq!(read(&choices(MOST_CHOICES + 1)), None);
        assert_eq!(Told::read(b"{}"), None);
    }
}
