//! Anycast prefixes as they are written.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::text::one_or_more;

/// An address, or a range of them, that several hosts share. Each source reaches the nearest.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Anycast {
    /// By which it is reached; absent: "anycast-1", and so on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Spanned<String>>,
    /// The prefix, such as "192.0.2.0/24" or "2001:db8::/48", or one of each. Its first address has the name.
    #[serde(with = "one_or_more")]
    pub prefix: Vec<Spanned<String>>,
    /// Who announces it.
    pub hosts: Vec<Spanned<String>>,
    /// Policies that make a site cost more than its distance.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bias: Vec<Bias>,
    /// The time until the last city learns of a change. Each city learns of it at a different time within this.
    #[serde(default, with = "units::duration::option", skip_serializing_if = "Option::is_none")]
    pub convergence: Option<Duration>,
    /// What becomes of packets of a city that has not heard of it yet.
    #[serde(default)]
    pub transient: Transient,
}

/// What a policy adds to the cost of a site.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bias {
    /// For packets from this city; absent: from all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Spanned<String>>,
    /// The site.
    pub host: Spanned<String>,
    /// As if the round trip were so much longer.
    #[serde(with = "units::duration")]
    pub cost: Duration,
}

/// What becomes of packets to a site that was withdrawn, as long as their city has not heard of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transient {
    /// They reach the old site, which still answers.
    #[default]
    OldSite,
    /// They vanish at the site's router.
    Blackhole,
    /// Routers send them to and fro until their time to live has run out.
    Loop,
}

impl Transient {
    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::OldSite => "old-site",
            Self::Blackhole => "blackhole",
            Self::Loop => "loop",
        }
    }
}
