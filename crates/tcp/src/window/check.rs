//! Which destinations a host's buffers slow down.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use units::Bitrate;

use super::{Buffers, Limit, ceiling, milliseconds};
use crate::{Error, kernel::Version};

/// Somewhere to reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// What to call it.
    pub name: Option<String>,
    /// How far it is.
    pub rtt: Duration,
}

/// What a host's buffers allow towards some destinations: what `tcp window --json` prints unless it plans.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Check {
    /// "longhaul.tcp.window.check/1".
    pub schema: &'static str,
    /// The kernel that it is for.
    pub kernel: Version,
    /// The kernel's rule from receive buffer to window.
    pub rule: String,
    /// The rate that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_mbps: Option<f64>,
    /// In the order that they were given.
    pub destinations: Vec<Destination>,
}

/// One destination. Only this host's buffers are judged; the other side has buffers of its own.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Destination {
    /// As given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How far it is.
    pub rtt_ms: f64,
    /// What comes from there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive: Option<Judged>,
    /// What goes there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send: Option<Judged>,
}

/// A limit, and what it means for the rate that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Judged {
    /// The limit.
    #[serde(flatten)]
    pub limit: Limit,
    /// Whether it allows the rate; absent where none was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

/// Whether a limit allows a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Also in the worse of the likely cases.
    Enough,
    /// In the better one only.
    Depends,
    /// Not even in the better one.
    Capped,
}

impl Check {
    /// Whether a destination is slower than asked for, for sure.
    pub fn is_capped(&self) -> bool {
        let sides = self.destinations.iter().flat_map(|destination| [destination.receive, destination.send]);
        sides.flatten().any(|side| side.verdict == Some(Verdict::Capped))
    }
}

/// What `buffers` allow towards each of `places`, and whether that is `rate`. Fails for a round trip of 0.
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
