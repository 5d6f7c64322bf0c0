//! The `[[anycast]]` tables of a world file.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::text::one_or_more;

/// An address or prefix shared by several hosts. Each source reaches the nearest host.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Anycast {
    /// Its name; absent: "anycast-1", and so on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Spanned<String>>,
    /// Such as "192.0.2.0/24" or "2001:db8::/48", or one of each. The name resolves to its first
    /// address.
    #[serde(with = "one_or_more")]
    pub prefix: Vec<Spanned<String>>,
    /// The hosts that announce it.
    pub hosts: Vec<Spanned<String>>,
    /// Routing policies that increase the cost of a site.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bias: Vec<Bias>,
    /// Time within which each city observes a change.
    #[serde(default, with = "units::duration::option", skip_serializing_if = "Option::is_none")]
    pub convergence: Option<Duration>,
    /// Treatment of packets from cities that have not observed a change yet.
    #[serde(default)]
    pub transient: Transient,
}

/// A routing policy that increases the cost of a site.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bias {
    /// Applies to packets from this city; absent: to all packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Spanned<String>>,
    /// The site.
    pub host: Spanned<String>,
    /// Additional cost, as round-trip time.
    #[serde(with = "units::duration")]
    pub cost: Duration,
}

/// Treatment of packets to a withdrawn site until their city has observed the change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transient {
    /// They reach the old site, which still responds.
    #[default]
    OldSite,
    /// They are dropped at the site's router.
    Blackhole,
    /// They loop between routers until their TTL expires.
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
