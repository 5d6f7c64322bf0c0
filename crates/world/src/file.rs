//! The world file: cities, links between them, hosts. See `docs/world.md` for the format.

use std::{collections::BTreeMap, time::Duration};

use link::{Limit, Receive};
use serde::{Deserialize, Serialize};
use toml::Spanned;
use units::{Bitrate, Probability};

use crate::{Document, Layout, Mistake};

/// A description of a planet, as written. [`World::layout`] turns it into one that can run.
#[derive(Debug, Clone, Serialize, Deserialize)]
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
    /// Who lives there.
    #[serde(default, rename = "host")]
    pub hosts: Vec<Host>,
}

/// What holds for the whole world.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// What the planet is called while it runs. Absent: the file's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
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
    /// Kernel settings of every host, such as "net.ipv4.tcp_rmem" = "4096 131072 67108864".
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub sysctl: BTreeMap<Spanned<String>, String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            name: None,
            seed: 1,
            inflation: 1.5,
            access_inflation: 2.1,
            receive: ReceiveMode::Slice,
            lateness: Duration::from_micros(250),
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
    /// What may wait for the wire, in time or bytes.
    #[serde(default, with = "limit", skip_serializing_if = "Option::is_none")]
    pub queue: Option<Limit>,
    /// Chance of losing a segment, each direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<Probability>,
    /// Bytes of framing for each segment; absent: [`ETHERNET`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead: Option<u16>,
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
    /// Congestion control of its connections, such as "bbr"; absent: the machine's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<Spanned<String>>,
    /// Kernel settings of this host alone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sysctl: BTreeMap<Spanned<String>, String>,
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

/// Preamble, header, checksum and gap of an Ethernet frame. The rates that people know are those of Ethernet ports, on which
/// TCP gets 94 %.
pub const ETHERNET: u16 = 38;

/// The round trip between a home and its provider's first router: the order of what cable and fibre lines show.
pub const LAST_MILE: Duration = Duration::from_millis(10);

impl World {
    /// Reads and checks a world file.
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

mod limit {
    use std::borrow::Cow;

    use link::Limit;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Limit>, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map(Some).map_err(D::Error::custom)
    }

    pub(super) fn serialize<S: Serializer>(limit: &Option<Limit>, serializer: S) -> Result<S::Ok, S::Error> {
        match limit {
            Some(limit) => serializer.collect_str(limit),
            None => serializer.serialize_none(),
        }
    }
}
