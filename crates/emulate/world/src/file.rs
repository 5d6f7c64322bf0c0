//! The world file: cities, links, hosts. See `docs/world-reference.md` for the format.

mod anycast;
mod contents;
mod fault;
mod impaired;
mod impairment;
mod jitter;
mod link;
mod matrix;
mod text;

use std::{collections::BTreeMap, num::NonZero, time::Duration};

use ::link::Receive;
use serde::{Deserialize, Serialize};
use toml::Spanned;
use units::Bitrate;

use self::text::one_or_more;
pub use self::{
    anycast::{Anycast, Bias, Transient},
    contents::Contents,
    fault::{Down, DownKind, Fault},
    impaired::Impaired,
    impairment::Impairment,
    jitter::Jitter,
    link::{Access, Line, Link, Path},
    matrix::{Pair, Source},
};

/// A parsed world file. [`World::layout`] resolves and checks it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct World {
    /// Settings of the whole world.
    #[serde(default, rename = "world")]
    pub settings: Settings,
    /// Cities that the gazetteer does not contain, or cities without a host.
    #[serde(default, rename = "city")]
    pub cities: Vec<City>,
    /// Links that differ from the generated ones.
    #[serde(default, rename = "link")]
    pub links: Vec<Link>,
    /// Access lines in addition to the built-in ones.
    #[serde(default, rename = "access", skip_serializing_if = "Vec::is_empty")]
    pub access: Vec<Access>,
    /// Hosts.
    #[serde(default, rename = "host")]
    pub hosts: Vec<Host>,
    /// Groups of numbered hosts, distributed over cities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub visitors: Vec<Visitors>,
    /// Addresses shared by several hosts.
    #[serde(default, rename = "anycast", skip_serializing_if = "Vec::is_empty")]
    pub anycast: Vec<Anycast>,
    /// Faults.
    #[serde(default, rename = "fault", skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Spanned<Fault>>,
}

/// Settings of the whole world.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Name of the planet; absent: the file's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Included files. Their tables precede the tables of this file. Empty after [`World::gather`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<Spanned<String>>,
    /// Random seed. The same seed and the same packets yield the same losses.
    pub seed: u64,
    /// Ratio of the path length between data centres to the great circle.
    pub inflation: f64,
    /// The same ratio if one end is an access network.
    pub access_inflation: f64,
    /// How super-packets are delivered to a receiver.
    pub receive: ReceiveMode,
    /// Delay after which a packet counts as late: this, or 1 % of the round-trip time if that is
    /// more.
    #[serde(with = "units::duration::option", skip_serializing_if = "Option::is_none")]
    pub lateness: Option<Duration>,
    /// Threads of the switch; absent: the number of spare processors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<NonZero<usize>>,
    /// Measured round-trip times, which take precedence over generated ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matrix: Option<Spanned<Source>>,
    /// Kernel settings of every host, such as "net.ipv4.tcp_rmem" = "4096 131072 67108864".
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub sysctl: BTreeMap<Spanned<String>, String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            name: None,
            include: Vec::new(),
            seed: 1,
            inflation: 1.5,
            access_inflation: 2.1,
            receive: ReceiveMode::Slice,
            lateness: None,
            threads: None,
            matrix: None,
            sysctl: BTreeMap::new(),
        }
    }
}

/// [`link::Receive`] as a value in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReceiveMode {
    /// Coalesced as by a network card.
    Slice,
    /// Each segment separately.
    Segment,
    /// Super-packets as sent.
    Gso,
}

impl From<ReceiveMode> for Receive {
    fn from(mode: ReceiveMode) -> Self {
        match mode {
            ReceiveMode::Slice => Self::Slice,
            ReceiveMode::Segment => Self::Segment,
            ReceiveMode::Gso => Self::Gso,
        }
    }
}

/// A city.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct City {
    /// The name.
    pub name: Spanned<String>,
    /// Degrees north; absent for a city of the gazetteer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lat: Option<f64>,
    /// Degrees east; absent for a city of the gazetteer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lon: Option<f64>,
}

/// A host: a network namespace in a city.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Its name, which other hosts resolve.
    pub name: Spanned<String>,
    /// Its city.
    pub city: Spanned<String>,
    /// The kind of network it is attached to.
    #[serde(default)]
    pub network: Network,
    /// Round-trip time of the last mile; absent: [`LAST_MILE`] in an access network, 0 in a data
    /// centre.
    #[serde(default, with = "units::duration::option", skip_serializing_if = "Option::is_none")]
    pub last_mile: Option<Duration>,
    /// Its access lines, one device each: the names of [`Access`] tables or built-in lines. A
    /// single name needs no list.
    #[serde(default, with = "one_or_more", skip_serializing_if = "Vec::is_empty")]
    pub access: Vec<Spanned<String>>,
    /// How Multipath TCP uses the lines other than the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mptcp: Option<Mptcp>,
    /// The rate of its network card. Packets queue in the host's kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nic: Option<Bitrate>,
    /// Congestion control algorithm, such as "bbr"; absent: the machine's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<Spanned<String>>,
    /// Kernel settings of this host.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sysctl: BTreeMap<Spanned<String>, String>,
}

/// A group of similar hosts in many cities, with numbered names.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Visitors {
    /// Number of hosts.
    pub count: Spanned<u32>,
    /// Name prefix; absent: "visitor", which yields visitor-1, visitor-2 and so on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Spanned<String>>,
    /// Distribution over the cities of the gazetteer; alternative to `cities`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
    /// Cities with equal numbers of hosts; alternative to `spread`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cities: Vec<Spanned<String>>,
    /// As for a [`Host`], but with access networks as default.
    #[serde(default = "people")]
    pub network: Network,
    /// As for a [`Host`].
    #[serde(default, with = "units::duration::option", skip_serializing_if = "Option::is_none")]
    pub last_mile: Option<Duration>,
    /// As for a [`Host`].
    #[serde(default, with = "one_or_more", skip_serializing_if = "Vec::is_empty")]
    pub access: Vec<Spanned<String>>,
    /// As for a [`Host`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mptcp: Option<Mptcp>,
    /// As for a [`Host`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<Spanned<String>>,
}

/// Distributions of visitors over the gazetteer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// Proportional to Internet users: [`crate::population::spread`].
    InternetUsers,
}

fn people() -> Network {
    Network::Access
}

/// The kind of network a host is attached to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// A data centre.
    #[default]
    Datacentre,
    /// An access network.
    Access,
}

/// How Multipath TCP uses the lines other than the first (RFC 8684).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mptcp {
    /// Concurrently.
    Subflow,
    /// If all others have failed.
    Backup,
    /// Announced to the peer, which may connect to them.
    Signal,
}

/// Preamble, header, checksum and gap of an Ethernet frame.
pub const ETHERNET: u16 = 38;

/// Between a home and its provider's first router.
pub const LAST_MILE: Duration = Duration::from_millis(10);

impl World {
    /// Serializes the world, to pass it to another process.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a world has only tables, strings and numbers")
    }
}
