//! Links between cities, and the lines that connect people, as they are written.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use toml::Spanned;
use units::Bitrate;

use super::{Contents, Impaired, text::two};

/// The path between two cities, the same in both directions.
pub type Link = Impaired<Path>;

/// A kind of line that connects people.
pub type Access = Impaired<Line>;

/// The keys of a link besides those of its impairment.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Path {
    /// Two cities; "*" stands for every other one.
    #[serde(with = "two")]
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
    /// Cities in between: the path then is that of the links from one to the next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<Spanned<String>>,
}

/// The keys of a line besides those of its impairment.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
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
}

impl Link {
    /// The files that it names.
    pub(crate) fn contents(&mut self) -> impl Iterator<Item = &mut Spanned<Contents>> {
        self.own.trace.iter_mut().chain(self.impairment.contents())
    }
}

impl Access {
    /// The files that it names.
    pub(crate) fn contents(&mut self) -> impl Iterator<Item = &mut Spanned<Contents>> {
        let Self { own, impairment } = self;
        own.up_trace.iter_mut().chain(&mut own.down_trace).chain(impairment.contents())
    }
}
