//! Finds destinations that a host's buffers slow down.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use units::Bitrate;

use super::{Buffers, Limit, ceiling, milliseconds};
use crate::{Error, kernel::Version};

/// A destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its name.
    pub name: Option<String>,
    /// Its round trip.
    pub rtt: Duration,
}

/// The rates that a host's buffers permit to some destinations: the output of `tcp window --json` without a
/// plan.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Check {
    /// "longhaul.tcp.window.check/1".
    pub schema: &'static str,
    /// The kernel.
    pub kernel: Version,
    /// The kernel's rule from receive buffer to window.
    pub rule: String,
    /// The requested rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_mbps: Option<f64>,
    /// The destinations, in input order.
    pub destinations: Vec<Destination>,
}

/// One destination. Only this host's buffers are judged; the peer's buffers may be smaller.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Destination {
    /// The name, as given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The round trip.
    pub rtt_ms: f64,
    /// The limit for receiving.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive: Option<Judged>,
    /// The limit for sending.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send: Option<Judged>,
}

/// A limit, and its verdict for the requested rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Judged {
    /// The limit.
    #[serde(flatten)]
    pub limit: Limit,
    /// Whether the limit permits the rate. Absent without a requested rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

/// Whether a limit permits a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Even in the worst likely case.
    Enough,
    /// In the best likely case only.
    Depends,
    /// Not even in the best likely case.
    Capped,
}

impl Check {
    /// Whether a destination is certainly slower than requested.
    pub fn is_capped(&self) -> bool {
        let sides = self.destinations.iter().flat_map(|destination| [destination.receive, destination.send]);
        sides.flatten().any(|side| side.verdict == Some(Verdict::Capped))
    }
}

/// The limits of `buffers` to each of `places`, judged against `rate`. Fails for a round trip of 0.
pub fn check(buffers: &Buffers, places: &[Place], rate: Option<Bitrate>) -> Result<Check, Error> {
    let rate_mbps = rate.map(ceiling::megabits);
    let judged = |limit: Limit| Judged { limit, verdict: rate_mbps.map(|rate| verdict(limit.mbps, rate)) };
    let destination = |place: &Place| {
        let ceiling = ceiling(buffers, place.rtt)?;
        Ok(Destination {
            name: place.name.clone(),
            rtt_ms: milliseconds(place.rtt),
            receive: ceiling.receive.map(judged),
            send: ceiling.send.map(judged),
        })
    };
    Ok(Check {
        schema: "longhaul.tcp.window.check/1",
        kernel: buffers.kernel,
        rule: buffers.share.to_string(),
        rate_mbps,
        destinations: places.iter().map(destination).collect::<Result<_, Error>>()?,
    })
}

fn verdict([least, most]: [f64; 2], rate: f64) -> Verdict {
    if least >= rate {
        Verdict::Enough
    } else if most >= rate {
        Verdict::Depends
    } else {
        Verdict::Capped
    }
}
