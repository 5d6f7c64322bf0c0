//! Faults as they are written.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use units::{Bitrate, Probability};

use super::{Transient, text::two};

/// A fault. It has one location and one effect, checked by [`crate::Layout::effect`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Fault {
    /// When it begins; absent: at once.
    #[serde(with = "units::duration::option", skip_serializing_if = "Option::is_none")]
    pub at: Option<Duration>,
    /// How long it lasts; absent: until it is lifted.
    #[serde(rename = "for", with = "units::duration::option", skip_serializing_if = "Option::is_none")]
    pub lasts: Option<Duration>,
    /// Where: on the link between two cities.
    #[serde(with = "two::option", skip_serializing_if = "Option::is_none")]
    pub between: Option<[String; 2]>,
    /// Where: in a city, all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
    /// Where: in a host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Where: on this access line of `host`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<String>,
    /// Where: between groups of cities. Cities of no group are one more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<Vec<Vec<String>>>,
    /// Where: an anycast prefix or its name; what: `host` announces it no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub withdraw: Option<String>,
    /// Effect: nothing passes, or nothing runs. `true` is the silent kind for the location.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub down: Option<Down>,
    /// What: chance of losing a segment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<Probability>,
    /// What: round trip without queues.
    #[serde(with = "units::duration::option", skip_serializing_if = "Option::is_none")]
    pub rtt: Option<Duration>,
    /// What: line rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Bitrate>,
    /// Where packets to a withdrawn site go meanwhile; absent: as in its [`Anycast`](super::Anycast).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transient: Option<Transient>,
}

/// Ways of being down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected true, or a kind of being down: silent, unreachable, carrier, killed or frozen"
)]
pub enum Down {
    /// true: the quiet kind; false is a mistake.
    Plain(bool),
    /// A kind by name.
    Kind(DownKind),
}

/// Ways of being down, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DownKind {
    /// Packets vanish.
    Silent,
    /// A router answers that the destination is unreachable (ICMP).
    Unreachable,
    /// The device has no carrier, and its kernel notices. For hosts and their access lines.
    Carrier,
    /// The host's processes are killed, and its devices have no carrier.
    Killed,
    /// The host's processes are stopped, and go on afterwards.
    Frozen,
}
