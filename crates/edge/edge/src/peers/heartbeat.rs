//! Heartbeats between data centres. They also exchange connect times to origins and chosen upper
//! tiers.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeartbeatRequest {
    pub(crate) network: String,
    /// The process of the receiver from which the sender has samples; 0 for no process.
    pub(crate) process: u64,
    pub(crate) from: u64,
}

/// A heartbeat response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeartbeatReply {
    /// The network of the sender.
    pub network: String,
    /// Identifies the sender's process; it changes with each start.
    pub process: u64,
    /// The number of the next sample, after these.
    pub next: u64,
    /// The new samples by origin.
    pub origins: Vec<OriginSamples>,
    /// The upper tiers that the sender has chosen by measurement.
    #[serde(default)]
    pub choices: Vec<ZoneUpper>,
}

/// The upper tier of a zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZoneUpper {
    /// The name of the zone.
    pub zone: String,
    /// The name of the data centre.
    pub upper: String,
}

/// Connect times to an origin, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OriginSamples {
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

impl HeartbeatRequest {
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

impl HeartbeatReply {
    /// The maximum size of a response, bytes: a thousand origins with all samples are 2 MB.
    pub const MAX_BYTES: usize = 4 << 20;

    /// Parses a response; `None` if it is invalid or exceeds a limit.
    pub fn read(text: &[u8]) -> Option<Self> {
        let text = Some(text).filter(|text| text.len() <= Self::MAX_BYTES)?;
        let reply: Self = serde_json::from_slice(text).ok()?;
        let is_bounded = |of: &OriginSamples| of.samples.len() <= MAX_SAMPLES;
        let is_short = reply.origins.len() <= MAX_ORIGINS && reply.choices.len() <= MAX_CHOICES;
        (is_short && reply.origins.iter().all(is_bounded)).then_some(reply)
    }
}

/// Each origin costs one connection per minute, and 300 data centres report it.
pub(super) const MAX_ORIGINS: usize = 1000;

pub(super) const MAX_CHOICES: usize = 10_000;

/// The number that `tier_routing` keeps.
pub(super) const MAX_SAMPLES: usize = 31;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heartbeat_request_round_trips() {
        let heartbeat = HeartbeatRequest { network: "shop.example".into(), process: 7, from: 9 };
        let target = heartbeat.target();
        assert_eq!(HeartbeatRequest::read(target.split_once('?').unwrap().1), Some(heartbeat));
        for wrong in ["", "network=a&process=1", "network=a&process=x&from=1"] {
            assert_eq!(HeartbeatRequest::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn oversized_heartbeat_reply_is_rejected() {
        let of = |samples| OriginSamples {
            origin: "https://a".into(),
            samples: vec![Sample { age_ms: 1, connect_us: 2 }; samples],
        };
        let reply = |origins| HeartbeatReply {
            network: "n".into(),
            process: 1,
            next: 2,
            origins,
            choices: Vec::new(),
        };
        let read = |reply: &HeartbeatReply| HeartbeatReply::read(&serde_json::to_vec(reply).unwrap());
        assert_eq!(read(&reply(vec![of(MAX_SAMPLES)])), Some(reply(vec![of(MAX_SAMPLES)])));
        assert_eq!(read(&reply(vec![of(MAX_SAMPLES + 1)])), None);
        let choices = |choices| {
            let upper = ZoneUpper { zone: "z".into(), upper: "lhr".into() };
            HeartbeatReply { choices: vec![upper; choices], ..reply(Vec::new()) }
        };
        assert_eq!(read(&choices(MAX_CHOICES)), Some(choices(MAX_CHOICES)));
        assert_eq!(read(&choices(MAX_CHOICES + 1)), None);
        assert_eq!(HeartbeatReply::read(b"{}"), None);
    }
}
