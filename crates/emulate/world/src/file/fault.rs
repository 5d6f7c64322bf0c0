//! The `[[fault]]` tables of a world file.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use units::{Bitrate, Probability};

use super::{Transient, text::two};

/// A fault. It has one location and one effect, checked by [`crate::Layout::effect`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Fault {
    /// Start time; absent: immediately.
    #[serde(with = "units::duration::option", skip_serializing_if = "Option::is_none")]
    pub at: Option<Duration>,
    /// Duration; absent: until it is lifted.
    #[serde(rename = "for", with = "units::duration::option", skip_serializing_if = "Option::is_none")]
    pub lasts: Option<Duration>,
    /// Location: the link between two cities.
    #[serde(with = "two::option", skip_serializing_if = "Option::is_none")]
    pub between: Option<[String; 2]>,
    /// Location: a whole city.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
    /// Location: a host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Location: this access line of `host`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<String>,
    /// Location: between groups of cities. Cities in no group form another group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<Vec<Vec<String>>>,
    /// Location: an anycast prefix or its name. Effect: `host` withdraws it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub withdraw: Option<String>,
    /// Effect: the location is down. `true` is the silent kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub down: Option<Down>,
    /// Effect: probability of losing a segment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<Probability>,
    /// Effect: round-trip time without queues.
    #[serde(with = "units::duration::option", skip_serializing_if = "Option::is_none")]
    pub rtt: Option<Duration>,
    /// Effect: line rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Bitrate>,
    /// Treatment of packets to a withdrawn site; absent: as in its [`Anycast`](super::Anycast).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transient: Option<Transient>,
}

/// Kinds of outage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected true, or a kind of being down: silent, unreachable, carrier, killed or frozen"
)]
pub enum Down {
    /// `true`: the silent kind; `false` is a mistake.
    Plain(bool),
    /// A named kind.
    Kind(DownKind),
}

/// Kinds of outage, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DownKind {
    /// Packets are dropped silently.
    Silent,
    /// A router responds with destination unreachable (ICMP).
    Unreachable,
    /// The device loses its carrier, and the kernel reacts to it. For hosts and their access lines.
    Carrier,
    /// The host's processes are killed, and its devices lose their carrier.
    Killed,
    /// The host's processes are stopped, and continue afterwards.
    Frozen,
}
