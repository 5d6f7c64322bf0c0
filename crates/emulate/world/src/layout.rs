//! A resolved world: hosts, their addresses, and the links between cities.

mod anycast;
mod effect;
mod resolve;

use std::{
    collections::{BTreeMap, HashMap},
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    num::NonZero,
    ops::Range,
    time::Duration,
};

use link::Receive;
use units::Bitrate;

pub use self::{
    anycast::{Anycast, Bias, Prefix},
    effect::{Effect, HostDown, Timed},
};
use crate::{
    file::{ETHERNET, Mptcp, Network},
    gazetteer::canonical,
    geography::{Place, great_circle_km, propagation},
    matrix::{Distance, Worst},
};

/// Index of a city in [`Layout::cities`].
pub type CityId = usize;
/// Index of a host in [`Layout::hosts`].
pub type HostId = usize;
/// Index of a host's network device in [`Layout::ports`].
pub type PortId = usize;
/// Index of an anycast prefix in [`Layout::anycast`].
pub type AnycastId = usize;

/// A resolved and checked world.
#[derive(Debug, Clone)]
pub struct Layout {
    /// The planet's name.
    pub name: String,
    /// Random seed.
    pub seed: u64,
    /// How super-packets are delivered to a receiver.
    pub receive: Receive,
    /// The file's limit of the lateness of packets on a short path, if set.
    pub lateness: Option<Duration>,
    /// The file's number of switch threads, if set.
    pub threads: Option<NonZero<usize>>,
    /// All cities that have a host or are declared.
    pub cities: Vec<City>,
    /// All hosts, in the file's order.
    pub hosts: Vec<Host>,
    /// The devices of all hosts, in the hosts' order.
    pub ports: Vec<Port>,
    /// Addresses shared by several hosts.
    pub anycast: Vec<Anycast>,
    /// Faults, ordered by time.
    pub faults: Vec<Timed>,
    inflation: f64,
    access_inflation: f64,
    links: BTreeMap<(CityId, CityId), Given>,
    via: BTreeMap<(CityId, CityId), Vec<CityId>>,
    measured: BTreeMap<(CityId, CityId), Duration>,
}

/// A city.
#[derive(Debug, Clone)]
pub struct City {
    /// The name.
    pub name: String,
    /// Its coordinates.
    pub place: Place,
    /// Its router's IPv4 address, in 10.255.0.0/16.
    pub v4: Ipv4Addr,
    /// Its router's IPv6 address.
    pub v6: Ipv6Addr,
}

/// A host.
#[derive(Debug, Clone)]
pub struct Host {
    /// The name.
    pub name: String,
    /// Its city.
    pub city: CityId,
    /// The kind of network it is attached to.
    pub network: Network,
    /// Its devices; the default route uses the first.
    pub ports: Range<PortId>,
    /// How Multipath TCP uses the other devices.
    pub mptcp: Option<Mptcp>,
    /// The rate of its network card.
    pub nic: Option<Bitrate>,
    /// Congestion control algorithm.
    pub congestion: Option<String>,
    /// Its kernel settings.
    pub sysctl: BTreeMap<String, String>,
}

/// A host's network device and its line.
#[derive(Debug, Clone)]
pub struct Port {
    /// Its host.
    pub host: HostId,
    /// Its number in the host: net0, net1 and so on.
    pub number: usize,
    /// Its IPv4 address, in 10.0.0.0/8.
    pub v4: Ipv4Addr,
    /// Its IPv6 address, in a unique local prefix.
    pub v6: Ipv6Addr,
    /// The line between it and its city's router, if any.
    pub line: Option<Line>,
}

#[derive(Debug, Clone)]
struct Given {
    config: link::Config,
    propagation: Option<Duration>,
    is_named: bool,
}

/// A line between a host and its city's router.
#[derive(Debug, Clone)]
pub struct Line {
    /// The kind of line, if it is named.
    pub name: Option<String>,
    /// Direction from the host.
    pub up: link::Config,
    /// Direction to the host.
    pub down: link::Config,
}

impl Layout {
    /// Finds a host by name.
    pub fn host(&self, name: &str) -> Option<HostId> {
        self.hosts.iter().position(|host| host.name == name)
    }

    /// Finds a city by name.
    pub fn city(&self, name: &str) -> Option<CityId> {
        self.cities.iter().position(|city| city.name == canonical(name))
    }

    /// Finds an anycast prefix by its name or its text.
    pub fn anycast(&self, name: &str) -> Option<AnycastId> {
        let is_it =
            |any: &Anycast| any.name == name || any.prefixes.iter().any(|prefix| prefix.to_string() == name);
        self.anycast.iter().position(is_it)
    }

    /// The city of a device.
    pub fn city_of(&self, port: PortId) -> CityId {
        self.hosts[self.ports[port].host].city
    }

    /// The first device of a host.
    pub fn first_port(&self, host: HostId) -> &Port {
        &self.ports[self.hosts[host].ports.start]
    }

    /// The devices by address.
    pub fn addresses(&self) -> HashMap<IpAddr, PortId> {
        let each = self.ports.iter().enumerate();
        each.flat_map(|(id, port)| [(IpAddr::V4(port.v4), id), (IpAddr::V6(port.v6), id)]).collect()
    }

    /// The cities on the path of a packet, inclusive.
    pub fn route(&self, from: CityId, to: CityId) -> Vec<CityId> {
        let between = self.via.get(&(from.min(to), from.max(to))).cloned().unwrap_or_default();
        let between: Vec<_> = if from <= to { between } else { between.into_iter().rev().collect() };
        let end = (from != to).then_some(to);
        std::iter::once(from).chain(between).chain(end).collect()
    }

    /// The link between two cities, for traffic between data centres.
    pub fn link(&self, from: CityId, to: CityId) -> link::Config {
        let generated = || self.measured(from, to).map_or_else(|| self.generated(from, to), |rtt| rtt / 2);
        let overhead = u32::from(ETHERNET);
        let base = link::Config { receive: self.receive, overhead, ..link::Config::default() };
        match self.given(from, to) {
            Some(given) => link::Config {
                propagation: given.propagation.unwrap_or_else(generated),
                ..given.config.clone()
            },
            None => link::Config { propagation: generated(), ..base },
        }
    }

    /// Whether a device is in an access network.
    pub fn is_access(&self, port: PortId) -> bool {
        self.hosts[self.ports[port].host].network == Network::Access
    }

    /// Additional generated delay of a path with an access network at one end.
    pub fn access_detour(&self, a: CityId, b: CityId) -> Duration {
        let is_given = self.given(a, b).is_some_and(|link| link.propagation.is_some());
        if is_given || self.measured(a, b).is_some() {
            return Duration::ZERO;
        }
        let km = self.distance_km(a, b);
        propagation(km, self.access_inflation).saturating_sub(propagation(km, self.inflation))
    }

    /// Propagation delay from one device to another, without queues and transmission times.
    pub fn one_way(&self, from: PortId, to: PortId) -> Duration {
        self.passing(from, to, |link| link.propagation)
    }

    fn passing(&self, from: PortId, to: PortId, time: impl Fn(&link::Config) -> Duration) -> Duration {
        let line = |port: PortId, side: fn(&Line) -> &link::Config| {
            self.ports[port].line.as_ref().map_or(Duration::ZERO, |line| time(side(line)))
        };
        let is_access = self.is_access(from) || self.is_access(to);
        let hop = |a, b| {
            let detour = if is_access { self.access_detour(a, b) } else { Duration::ZERO };
            time(&self.link(a, b)) + detour
        };
        let route = self.route(self.city_of(from), self.city_of(to));
        let hops: Duration = match route.as_slice() {
            [city] => hop(*city, *city),
            cities => cities.windows(2).map(|pair| hop(pair[0], pair[1])).sum(),
        };
        line(from, |line| &line.up) + hops + line(to, |line| &line.down)
    }

    /// Minimum one-way time over any devices of the hosts, without queues and transmission times.
    pub fn least_one_way(&self, from: HostId, to: HostId) -> Duration {
        let ways =
            self.hosts[from].ports.clone().flat_map(|a| self.hosts[to].ports.clone().map(move |b| (a, b)));
        let least = ways.map(|(a, b)| self.passing(a, b, link::Config::least_propagation)).min();
        least.unwrap_or_default()
    }

    /// Round-trip time between the routers of two cities, without queues.
    pub fn city_rtt(&self, a: CityId, b: CityId) -> Duration {
        let route = self.route(a, b);
        route
            .windows(2)
            .map(|pair| self.link(pair[0], pair[1]).propagation + self.link(pair[1], pair[0]).propagation)
            .sum()
    }

    /// The share of the convergence time, above 0 and up to 1, after which a city observes this
    /// change.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact in an f64")]
    pub fn convergence_share(&self, anycast: AnycastId, change: u64, city: CityId) -> f64 {
        let bits = mix(mix(mix(mix(self.seed) ^ anycast as u64) ^ change) ^ city as u64);
        ((bits >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Between the first devices of two hosts, without queues and transmission times.
    pub fn rtt(&self, a: HostId, b: HostId) -> Duration {
        let (a, b) = (self.hosts[a].ports.start, self.hosts[b].ports.start);
        self.one_way(a, b) + self.one_way(b, a)
    }

    /// Losses in each direction are independent.
    pub fn link_seed(&self, from: CityId, to: CityId) -> u64 {
        mix(mix(mix(self.seed) ^ from as u64) ^ to as u64)
    }

    /// The seed of one direction of a device's line.
    pub fn line_seed(&self, port: PortId, is_up: bool) -> u64 {
        mix(mix(mix(!self.seed) ^ port as u64) ^ u64::from(is_up))
    }

    /// `None` if the matrix contains no pair of the world.
    pub fn distance(&self) -> Option<Distance> {
        let worst = |(&(a, b), &measured): (&(CityId, CityId), &Duration)| Worst {
            between: [a, b].map(|city| self.cities[city].name.clone()),
            measured,
            generated: 2 * self.generated(a, b),
        };
        let measured: Vec<_> = self.measured.iter().map(worst).collect();
        Distance::new(&measured, self.cities.len() * (self.cities.len() - 1) / 2)
    }

    /// The links whose cities are both named in the file, the lower index first.
    pub fn named_links(&self) -> impl Iterator<Item = (CityId, CityId)> {
        self.links.keys().copied().filter(|&link| self.is_named(link))
    }

    /// Whether the file contains a link that names both cities.
    pub fn is_named(&self, (a, b): (CityId, CityId)) -> bool {
        self.given(a, b).is_some_and(|link| link.is_named)
    }

    fn generated(&self, from: CityId, to: CityId) -> Duration {
        propagation(self.distance_km(from, to), self.inflation)
    }

    fn measured(&self, a: CityId, b: CityId) -> Option<Duration> {
        self.measured.get(&(a.min(b), a.max(b))).copied()
    }

    fn distance_km(&self, a: CityId, b: CityId) -> f64 {
        great_circle_km(self.cities[a].place, self.cities[b].place)
    }

    fn given(&self, a: CityId, b: CityId) -> Option<&Given> {
        self.links.get(&(a.min(b), a.max(b)))
    }
}

/// One step of SplitMix64 (Steele, Lea and Flood, 2014).
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests;
