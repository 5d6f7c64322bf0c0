//! Links between cities, and the lines that connect people, as they are written.

use std::time::Duration;

use link::{Discipline, Limit, Loss};
use serde::{Deserialize, Serialize};
use toml::Spanned;
use units::{Bitrate, Probability};

use super::text;
use super::{Contents, Jitter};

/// The path between two cities, the same in both directions.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Two cities; "*" stands for every other one.
    pub between: [Spanned<String>; 2],
    /// There and back, without queues. Absent: from the great circle.
    #[serde(default, with = "units::duration::option", skip_serializing_if = "Option::is_none")]
    pub rtt: Option<Duration>,
    /// One way; instead of `rtt`.
    #[serde(default, with = "units::duration::option", skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
    /// Absent: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Bitrate>,
    /// A recording of the rate in mahimahi's form, instead of `rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Spanned<Contents>>,
    /// What may wait for the wire, in time, bytes or packets.
    #[serde(default, with = "text", skip_serializing_if = "Option::is_none")]
    pub queue: Option<Limit>,
    /// Who goes next, and who is dropped before the queue is full; absent: "droptail".
    #[serde(default, with = "text", skip_serializing_if = "Option::is_none")]
    pub aqm: Option<Discipline>,
    /// Whether `aqm` marks packets that allow it instead of dropping them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ecn: bool,
    /// How the delay varies.
    #[serde(default, with = "text", skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Jitter>,
    /// The shape of the jitter from a file, as netem's `distribution` has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter_table: Option<Spanned<Contents>>,
    /// Which segments are lost, each direction: a share, or bursts.
    #[serde(default, with = "text", skip_serializing_if = "Option::is_none")]
    pub loss: Option<Loss>,
    /// Which segments are lost, from a file of 0 and 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_trace: Option<Spanned<Contents>>,
    /// Chance that a segment arrives twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<Probability>,
    /// Chance that a segment arrives with a wrong bit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrupt: Option<Probability>,
    /// Bytes of framing for each segment; absent: [`ETHERNET`](super::ETHERNET).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead: Option<u16>,
    /// A line as Linux' `tc ... netem` takes it. Other keys go before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub netem: Option<Spanned<String>>,
    /// Cities in between: the path then is that of the links from one to the next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<Spanned<String>>,
}

/// A kind of line that connects people.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Access {
    /// By which hosts choose it.
    pub name: Spanned<String>,
    /// Towards the host; absent: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub down: Option<Bitrate>,
    /// From the host; absent: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up: Option<Bitrate>,
    /// There and back over the last mile; absent: [`LAST_MILE`](super::LAST_MILE).
    #[serde(default, with = "units::duration::option", skip_serializing_if = "Option::is_none")]
    pub rtt: Option<Duration>,
    /// A recording of the rate in mahimahi's form, instead of `down`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub down_trace: Option<Spanned<Contents>>,
    /// The same instead of `up`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up_trace: Option<Spanned<Contents>>,
    /// What may wait for the line, in time, bytes or packets.
    #[serde(default, with = "text", skip_serializing_if = "Option::is_none")]
    pub queue: Option<Limit>,
    /// Who goes next, and who is dropped before the queue is full; absent: "droptail".
    #[serde(default, with = "text", skip_serializing_if = "Option::is_none")]
    pub aqm: Option<Discipline>,
    /// Whether `aqm` marks packets that allow it instead of dropping them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ecn: bool,
    /// How the delay varies.
    #[serde(default, with = "text", skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Jitter>,
    /// The shape of the jitter from a file, as netem's `distribution` has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter_table: Option<Spanned<Contents>>,
    /// Which segments are lost, each direction: a share, or bursts.
    #[serde(default, with = "text", skip_serializing_if = "Option::is_none")]
    pub loss: Option<Loss>,
    /// Which segments are lost, from a file of 0 and 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_trace: Option<Spanned<Contents>>,
    /// Chance that a segment arrives twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<Probability>,
    /// Chance that a segment arrives with a wrong bit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrupt: Option<Probability>,
    /// Bytes of framing for each segment; absent: [`ETHERNET`](super::ETHERNET).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead: Option<u16>,
    /// A line as Linux' `tc ... netem` takes it. Other keys go before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub netem: Option<Spanned<String>>,
}
