//! The world file: cities, links between them, hosts. See `docs/world.md` for the format.

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

/// A description of a planet, as written. [`World::layout`] turns it into one that can run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct World {
    /// Settings of the whole world.
    #[serde(default, rename = "world")]
    pub settings: Settings,
    /// Cities that the gazetteer does not contain, or that have no host.
    #[serde(default, rename = "city")]
    pub cities: Vec<City>,
    /// Deviations from the great circle.
    #[serde(default, rename = "link")]
    pub links: Vec<Link>,
    /// Lines of access networks in addition to the built-in ones.
    #[serde(default, rename = "access", skip_serializing_if = "Vec::is_empty")]
    pub access: Vec<Access>,
    /// Who lives there.
    #[serde(default, rename = "host")]
    pub hosts: Vec<Host>,
    /// Hosts by the hundred: people, spread over cities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub visitors: Vec<Visitors>,
    /// Addresses that several hosts share.
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
    /// What the planet is called while it runs. Absent: the file's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Files whose tables come before those of this one. Empty after [`World::gather`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<Spanned<String>>,
    /// Where randomness starts. The same seed and the same packets give the same losses.
    pub seed: u64,
    /// How much longer than the great circle the path between data centres is.
    pub inflation: f64,
    /// The same when one end is an access network.
    pub access_inflation: f64,
    /// How segments reach a receiver.
    pub receive: ReceiveMode,
    /// How late a packet may be delivered before it counts against the run: this, or 1 % of its round trip if that is more.
    /// Absent: as late as the claims of a scenario allow.
    #[serde(with = "units::duration::option", skip_serializing_if = "Option::is_none")]
    pub lateness: Option<Duration>,
    /// Threads of the switch; absent: as many as the machine has processors to spare.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<NonZero<usize>>,
    /// Measured round trips, which go before those that follow from the great circle.
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

/// [`link::Receive`] as it is written in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReceiveMode {
    /// Coalesced as a network card would.
    Slice,
    /// Each segment on its own.
    Segment,
    /// Super-packets as the sender made them.
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

/// A place with coordinates.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct City {
    /// Its name.
    pub name: Spanned<String>,
    /// Degrees north; absent for a city of the gazetteer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lat: Option<f64>,
    /// Degrees east; absent for a city of the gazetteer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lon: Option<f64>,
}

/// A network namespace in a city.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Its name, by which the others reach it.
    pub name: Spanned<String>,
    /// Where it is.
    pub city: Spanned<String>,
    /// What kind of network it is attached to.
    #[serde(default)]
    pub network: Network,
    /// Round trip over the access network's last mile; absent: [`LAST_MILE`] for people, nothing in a data centre.
    #[serde(default, with = "units::duration::option", skip_serializing_if = "Option::is_none")]
    pub last_mile: Option<Duration>,
    /// The lines that connect it, one device each: an [`Access`] or a built-in one. One may stand alone.
    #[serde(default, with = "one_or_more", skip_serializing_if = "Vec::is_empty")]
    pub access: Vec<Spanned<String>>,
    /// How Multipath TCP uses the other lines than the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mptcp: Option<Mptcp>,
    /// The rate of its network card. Packets wait for it in the host's kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nic: Option<Bitrate>,
    /// Congestion control of its connections, such as "bbr"; absent: the machine's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<Spanned<String>>,
    /// Kernel settings of this host alone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sysctl: BTreeMap<Spanned<String>, String>,
}

/// Hosts of one kind in many cities, each with a number after its name.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Visitors {
    /// How many.
    pub count: Spanned<u32>,
    /// The name before the number; absent: "visitor", so that they are visitor-1, visitor-2 and so on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Spanned<String>>,
    /// How they are spread over the cities of the gazetteer; instead of `cities`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
    /// Cities that get equally many; instead of `spread`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cities: Vec<Spanned<String>>,
    /// As for a [`Host`], but people.
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

/// How visitors are spread over the gazetteer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// As the world's Internet users are: [`crate::population::spread`].
    InternetUsers,
}

fn people() -> Network {
    Network::Access
}

/// What kind of network a host is attached to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// A data centre.
    #[default]
    Datacentre,
    /// An access network: people.
    Access,
}

/// How Multipath TCP uses the other lines than the first (RFC 8684).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mptcp {
    /// At the same time.
    Subflow,
    /// When the others are gone.
    Backup,
    /// Announced to the peer, which may connect to them.
    Signal,
}

/// Preamble, header, checksum and gap of an Ethernet frame. The rates that people know are those of Ethernet ports, on which
/// TCP gets 94 %.
pub const ETHERNET: u16 = 38;

/// The round trip between a home and its provider's first router: the order of what cable and fibre lines show.
pub const LAST_MILE: Duration = Duration::from_millis(10);

impl World {
    /// The world as a file again, to hand it to another process.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a world has only tables, strings and numbers")
    }
}
