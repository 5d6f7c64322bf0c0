//! The `[[link]]` and `[[access]]` tables of a world file.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use toml::Spanned;
use units::Bitrate;

use super::{Contents, Impaired, text::two};

/// The path between two cities, equal in both directions.
pub type Link = Impaired<Path>;

/// An access line.
pub type Access = Impaired<Line>;

/// The keys of a link other than its impairment.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Path {
    /// Two cities; "*" stands for all others.
    #[serde(with = "two")]
    pub between: [Spanned<String>; 2],
    /// Round-trip time without queues; absent: generated from the great circle.
    #[serde(default, with = "units::duration::option", skip_serializing_if = "Option::is_none")]
    pub rtt: Option<Duration>,
    /// One-way delay; alternative to `rtt`.
    #[serde(default, with = "units::duration::option", skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
    /// The rate; absent: unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Bitrate>,
    /// A recorded rate in mahimahi's format; alternative to `rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Spanned<Contents>>,
    /// Intermediate cities. The path then consists of the links between successive cities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<Spanned<String>>,
}

/// The keys of an access line other than its impairment.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// The name that hosts refer to.
    pub name: Spanned<String>,
    /// Rate towards the host; absent: unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub down: Option<Bitrate>,
    /// Rate from the host; absent: unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up: Option<Bitrate>,
    /// Round-trip time of the last mile; absent: [`LAST_MILE`](super::LAST_MILE).
    #[serde(default, with = "units::duration::option", skip_serializing_if = "Option::is_none")]
    pub rtt: Option<Duration>,
    /// A recorded rate in mahimahi's format; alternative to `down`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub down_trace: Option<Spanned<Contents>>,
    /// A recorded rate; alternative to `up`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up_trace: Option<Spanned<Contents>>,
}

impl Link {
    pub(crate) fn contents(&mut self) -> impl Iterator<Item = &mut Spanned<Contents>> {
        self.own.trace.iter_mut().chain(self.impairment.contents())
    }
}

impl Access {
    pub(crate) fn contents(&mut self) -> impl Iterator<Item = &mut Spanned<Contents>> {
        let Self { own, impairment } = self;
        own.up_trace.iter_mut().chain(&mut own.down_trace).chain(impairment.contents())
    }
}
