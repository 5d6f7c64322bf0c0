//! The edges that a packet takes, and where its time to live expires.

use std::{collections::HashMap, sync::Arc, time::Duration};

use world::{CityId, HostId, Layout, PortId};

use super::{edge::Edge, faults::Faults};
use crate::fidelity::allowance;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    Port(PortId),
    Router(CityId),
}

impl Source {
    fn port(self) -> Option<PortId> {
        match self {
            Self::Port(port) => Some(port),
            Self::Router(_) => None,
        }
    }

    pub(crate) fn city(self, layout: &Layout) -> CityId {
        match self {
            Self::Port(port) => layout.city_of(port),
            Self::Router(city) => city,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    Port(PortId),
    Router(CityId),
    Blackhole(CityId),
    Loop(CityId),
    Nowhere(CityId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Port(PortId),
    Router(CityId),
    Expired(CityId),
    Unroutable(CityId),
    Blackhole(CityId),
}

impl End {
    fn port(self) -> Option<PortId> {
        match self {
            Self::Port(port) => Some(port),
            _ => None,
        }
    }

    pub(crate) fn city(self, layout: &Layout) -> CityId {
        match self {
            Self::Port(port) => layout.city_of(port),
            Self::Router(city) | Self::Expired(city) | Self::Unroutable(city) | Self::Blackhole(city) => city,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hop {
    pub edge: Edge,
    pub detour: Duration,
    pub routers: u8,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Path {
    pub hops: Vec<Hop>,
    pub end: End,
    pub routers: u8,
    /// The permitted lateness of a packet, if the world has a limit.
    pub allowance: Option<Duration>,
    pub hosts: Option<(HostId, HostId)>,
}

#[derive(Debug, Default)]
pub(crate) struct Paths {
    known: HashMap<(Source, Target, u8), Arc<Path>>,
}

impl Paths {
    pub(crate) fn find(
        &mut self,
        layout: &Layout,
        faults: &Faults,
        from: Source,
        to: Target,
        ttl: u8,
    ) -> Arc<Path> {
        // Most packets have enough time to live for the whole path, and share a cache entry.
        let ttl = match to {
            Target::Loop(_) => ttl,
            _ => ttl.min(MOST_ROUTERS),
        };
        let path = self
            .known
            .entry((from, to, ttl))
            .or_insert_with(|| Arc::new(path(layout, faults, from, to, ttl)));
        Arc::clone(path)
    }

    pub(crate) fn forget(&mut self) {
        self.known.clear();
    }
}

fn path(layout: &Layout, faults: &Faults, from: Source, to: Target, ttl: u8) -> Path {
    let (goal, end) = match to {
        Target::Port(port) => (layout.city_of(port), End::Port(port)),
        Target::Router(city) => (city, End::Router(city)),
        Target::Blackhole(city) | Target::Loop(city) => (city, End::Blackhole(city)),
        Target::Nowhere(city) => (city, End::Unroutable(city)),
    };
    let mut cities = layout.route(from.city(layout), goal);
    if let Target::Loop(_) = to {
        to_and_fro(&mut cities, usize::from(ttl) + 2);
    }
    let is_access = from.port().into_iter().chain(end.port()).any(|port| layout.is_access(port));
    // A round trip that a fault assigns to a link is the whole delay, as in the file.
    let is_detour = |a, b| is_access && faults.change(layout, Edge::Between(a, b)).rtt.is_none();
    let detour = |a, b| if is_detour(a, b) { layout.access_detour(a, b) } else { Duration::ZERO };
    // A host that is plugged into its router has a line only while a fault affects it.
    let has_line = |port: &PortId| layout.ports[*port].line.is_some() || faults.has_line(*port);
    let allowed = |rtt| layout.lateness.map(|limit| allowance(rtt, limit));
    let host = |port: PortId| layout.ports[port].host;

    let mut hops = Vec::new();
    if let Some(port) = from.port().filter(has_line) {
        hops.push(Hop { edge: Edge::Up(port), detour: Duration::ZERO, routers: 0 });
    }
    let (mut ttl, mut routers) = (ttl, 0);
    for (index, &city) in cities.iter().enumerate() {
        let next = cities.get(index + 1);
        if next.is_none() && end.port().is_none() {
            break;
        }
        // A router does not decrement the time to live of its own packets.
        if index > 0 || from.port().is_some() {
            if ttl <= 1 {
                let (end, allowance) = (End::Expired(city), allowed(Duration::ZERO));
                return Path { hops, end, routers: 0, allowance, hosts: None };
            }
            ttl -= 1;
            routers += 1;
        }
        let next = next.or((cities.len() == 1 && from.port().is_some()).then_some(&city));
        if let Some(&next) = next {
            hops.push(Hop { edge: Edge::Between(city, next), detour: detour(city, next), routers });
            routers = 0;
        }
    }
    if let Some(port) = end.port().filter(has_line) {
        hops.push(Hop { edge: Edge::Down(port), detour: Duration::ZERO, routers });
        routers = 0;
    }
    let rtt = match (from, end) {
        (Source::Port(a), End::Port(b)) => layout.one_way(a, b) + layout.one_way(b, a),
        _ => Duration::ZERO,
    };
    let hosts = from.port().zip(end.port()).map(|(a, b)| (host(a), host(b)));
    Path { hops, end, routers, allowance: allowed(rtt), hosts }
}

fn to_and_fro(cities: &mut Vec<CityId>, count: usize) {
    let last = cities[cities.len() - 1];
    let before = cities.iter().rev().nth(1).copied().unwrap_or(last);
    while cities.len() < count {
        cities.push(if cities[cities.len() - 1] == last { before } else { last });
    }
}

/// The cities of a link's `via`, and its ends.
const MOST_ROUTERS: u8 = 20;
