//! The world file: cities, links between them, hosts. See `docs/world.md` for the format.

use std::{collections::BTreeMap, num::NonZero, time::Duration};

use link::{Discipline, Limit, Loss, Receive};
use serde::{Deserialize, Serialize};
use toml::Spanned;
use units::{Bitrate, Probability};

pub use crate::impairment::{Contents, Jitter};
use crate::{Document, Layout, Mistake, matrix};

/// A description of a planet, as written. [`World::layout`] turns it into one that can run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct World {
    /// What holds for the whole world.
    #[serde(default, rename = "world")]
    pub settings: Settings,
    /// Cities that the gazetteer does not know, or that have no host.
    #[serde(default, rename = "city")]
    pub cities: Vec<City>,
    /// What does not follow from the great circle.
    #[serde(default, rename = "link")]
    pub links: Vec<Link>,
    /// Lines of access networks beside those that the program knows.
    #[serde(default, rename = "access", skip_serializing_if = "Vec::is_empty")]
    pub access: Vec<Access>,
    /// Who lives there.
    #[serde(default, rename = "host")]
    pub hosts: Vec<Host>,
    /// Hosts by the hundred: people, spread over cities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub visitors: Vec<Visitors>,
    /// Addresses that several hosts have at once.
    #[serde(default, rename = "anycast", skip_serializing_if = "Vec::is_empty")]
    pub anycast: Vec<Anycast>,
    /// What goes wrong, and when.
    #[serde(default, rename = "fault", skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Spanned<Fault>>,
}

/// What holds for the whole world.
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
    /// How much longer than the great circle the way between data centres is.
    pub inflation: f64,
    /// The same when one end is an access network.
    pub access_inflation: f64,
    /// How segments reach a receiver.
    pub receive: ReceiveMode,
    /// How late a packet may be delivered before it counts against the run: this, or 1 % of its round trip if that is more.
    #[serde(with = "units::duration")]
    pub lateness: Duration,
    /// Threads of the switch; absent: as many as the machine has processors to spare.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<NonZero<usize>>,
    /// Measured round trips, which go before those that follow from the great circle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matrix: Option<Spanned<matrix::Source>>,
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
            lateness: Duration::from_micros(250),
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
    /// Bytes of framing for each segment; absent: [`ETHERNET`].
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
    /// There and back over the last mile; absent: [`LAST_MILE`].
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
    /// Bytes of framing for each segment; absent: [`ETHERNET`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead: Option<u16>,
    /// A line as Linux' `tc ... netem` takes it. Other keys go before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub netem: Option<Spanned<String>>,
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
    /// The lines that connect it, one device each: of [`Access`] or of those that the program knows. One may stand alone.
    #[serde(default, with = "one_or_more", skip_serializing_if = "Vec::is_empty")]
    pub access: Vec<Spanned<String>>,
    /// How Multipath TCP uses the lines beside the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mptcp: Option<Mptcp>,
    /// The rate of its own network card: what waits for it waits in the host's kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nic: Option<Bitrate>,
    /// Congestion control of its connections, such as "bbr"; absent: the machine's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<Spanned<String>>,
    /// Kernel settings of this host alone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sysctl: BTreeMap<Spanned<String>, String>,
}

/// Hosts of one kind in many cities, each with a number behind its name.
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

/// How Multipath TCP uses the lines beside the first (RFC 8684).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mptcp {
    /// At the same time.
    Subflow,
    /// When the others are gone.
    Backup,
    /// Announced to the peer, who may connect to them.
    Signal,
}

/// An address, or a range of them, that several hosts have at once. Each source reaches the nearest.
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
    /// The time after which the last city has heard of a change; each hears of it at a time of its own before that.
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

/// What goes wrong. Where and what: one of each, checked by [`crate::Layout::effect`].
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
    #[serde(skip_serializing_if = "Option::is_none")]
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
    /// What: nothing passes, or nothing lives. true is the quiet kind of the place.
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
    /// What becomes meanwhile of packets to a withdrawn site; absent: as its [`Anycast`] says.
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
    /// A router says that there is no way (ICMP).
    Unreachable,
    /// The device has no carrier, which its kernel knows. For hosts and their access lines.
    Carrier,
    /// The host's processes are killed, and its devices have no carrier.
    Killed,
    /// The host's processes are stopped, and go on afterwards.
    Frozen,
}

/// Preamble, header, checksum and gap of an Ethernet frame. The rates that people know are those of Ethernet ports, on which
/// TCP gets 94 %.
pub const ETHERNET: u16 = 38;

/// The round trip between a home and its provider's first router: the order of what cable and fibre lines show.
pub const LAST_MILE: Duration = Duration::from_millis(10);

impl World {
    /// Reads and checks a world that needs no other file. For one that may, there is [`World::read_all`].
    pub fn read(document: &Document) -> Result<(Self, Layout), Mistake> {
        let world: Self = document.parse()?;
        let layout = world.layout(document)?;
        Ok((world, layout))
    }

    /// The world as a file again, to hand it to another process.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a world has only tables, strings and numbers")
    }
}

/// One value, or a list of them.
mod one_or_more {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use toml::Spanned;

    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a string or a list of strings")]
    enum OneOrMore {
        One(String),
        More(Vec<String>),
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Spanned<String>>, D::Error> {
        let value = Spanned::<OneOrMore>::deserialize(deserializer)?;
        let span = value.span();
        Ok(match value.into_inner() {
            OneOrMore::One(one) => vec![Spanned::new(span, one)],
            OneOrMore::More(more) => more.into_iter().map(|each| Spanned::new(span.clone(), each)).collect(),
        })
    }

    pub(super) fn serialize<S: Serializer>(
        all: &[Spanned<String>],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        all.serialize(serializer)
    }
}

/// What is written as a text, and may be absent.
mod text {
    use std::{borrow::Cow, fmt::Display, str::FromStr};

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn deserialize<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map(Some).map_err(D::Error::custom)
    }

    pub(super) fn serialize<T: Display, S: Serializer>(
        value: &Option<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => serializer.collect_str(value),
            None => serializer.serialize_none(),
        }
    }
}
