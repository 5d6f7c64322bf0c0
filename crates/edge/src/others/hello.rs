//! What data centres tell one another beside requests: that they are there, and how long they took to connect to origins.

use serde::{Deserialize, Serialize};

/// The question: who asks, and what it knows already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hello {
    /// The network of the one who asks.
    pub(crate) network: String,
    /// Which process told it something last; 0 if none has.
    pub(crate) process: u64,
    /// The number of the first sample that it does not know.
    pub(crate) from: u64,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// The network of the one who answers.
    pub network: String,
    /// Which process it is: another number after each start.
    pub process: u64,
    /// The number of the first sample that comes after these.
    pub next: u64,
    /// What it measured since.
    pub origins: Vec<OfOrigin>,
    /// Which upper tiers it has chosen by what all measured.
    #[serde(default)]
    pub choices: Vec<OfZone>,
}

/// The upper tier of one zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfZone {
    /// The zone's name.
    pub zone: String,
    /// The data centre's.
    pub upper: String,
}

/// Connect times to one origin, the oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfOrigin {
    /// Scheme, host and port.
    pub origin: String,
    /// The times.
    pub samples: Vec<Sample>,
}

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// How long ago it was measured. Clocks of data centres are not compared.
    pub age_ms: u64,
    /// From SYN to SYN-ACK.
    pub connect_us: u64,
}

impl Hello {
    /// The target of a request that asks this.
    pub(crate) fn target(&self) -> String {
        let Self { network, process, from } = self;
        format!("/?network={network}&process={process}&from={from}")
    }

    /// Reads it from a request's query.
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
    /// Bytes of an answer at most: a thousand origins with all their samples are 2 MB.
    pub const LONGEST: usize = 4 << 20;

    /// Reads an answer; `None` if it is none, or tells more than there can be.
    pub fn read(text: &[u8]) -> Option<Self> {
        let text = Some(text).filter(|text| text.len() <= Self::LONGEST)?;
        let told: Self = serde_json::from_slice(text).ok()?;
        let is_bounded = |of: &OfOrigin| of.samples.len() <= MOST_TOLD;
        let is_short = told.origins.len() <= MOST_ORIGINS && told.choices.len() <= MOST_CHOICES;
        (is_short && told.origins.iter().all(is_bounded)).then_some(told)
    }
}

/// Origins that are measured, and told of. Each costs a connection a minute, and 300 data centres tell of them.
pub(super) const MOST_ORIGINS: usize = 1000;

/// Zones whose upper tiers are told.
pub(super) const MOST_CHOICES: usize = 10_000;

/// Samples of one origin that are told: as many as the engine keeps.
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
