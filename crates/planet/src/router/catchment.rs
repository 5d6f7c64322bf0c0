//! Which site of an anycast prefix serves a city: the one that costs least among those of which the city has heard.
//!
//! A change of what is announced, or of which site can be reached from where, reaches each city after a delay of its own,
//! drawn from the seed. Until then its packets still go to the site that it knows; when that one has withdrawn, they meet the
//! transient of the prefix, and when the path to it is down, they end there.

use std::{
    collections::{BTreeSet, HashMap},
    net::IpAddr,
    time::Duration,
};

use world::{Anycast, AnycastId, CityId, HostId, Layout, Prefix, file::Transient};

use super::faults::Faults;

/// What serves a city.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Serves {
    /// A site, which may have withdrawn and answers all the same.
    Site(HostId),
    /// A site that announces the prefix, behind something that is down.
    CutOff(HostId),
    /// A site that has withdrawn; its router drops what comes.
    Blackhole(HostId),
    /// A site that has withdrawn; routers send to and fro what comes.
    Loop(HostId),
    /// Nobody announces the prefix.
    Nobody,
}

/// The catchments of all anycast prefixes.
pub(crate) struct Catchments {
    prefixes: Vec<(Prefix, AnycastId)>,
    /// Addresses that were looked up once.
    known: HashMap<IpAddr, Option<AnycastId>>,
    all: Vec<Catchment>,
}

struct Catchment {
    described: Anycast,
    /// The sites of a city from the cheapest up: which of the described ones.
    ranked: Vec<Vec<usize>>,
    /// Those that some city still goes by, and the last one.
    versions: Vec<Version>,
    /// How many changes there were.
    changes: u64,
}

/// What the sites announce from some time on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Version {
    /// For each site, `None` if it announces the prefix, else what becomes of packets to it.
    withdrawn: Vec<Option<Transient>>,
    /// Cities, and the sites that cannot be reached from them.
    cut_off: BTreeSet<(CityId, usize)>,
    /// When each city hears of it.
    heard: Vec<Duration>,
}

impl Catchments {
    pub(crate) fn new(layout: &Layout) -> Self {
        let prefixes = layout.anycast.iter().enumerate();
        let prefixes = prefixes.flat_map(|(id, any)| any.prefixes.iter().map(move |&prefix| (prefix, id)));
        Self {
            prefixes: prefixes.collect(),
            known: HashMap::new(),
            all: layout.anycast.iter().map(|any| Catchment::new(layout, any)).collect(),
        }
    }

    /// What serves an address for packets from a city; `None` if it is in no anycast prefix.
    pub(crate) fn serves(&mut self, now: Duration, address: IpAddr, city: CityId) -> Option<Serves> {
        if self.prefixes.is_empty() {
            return None;
        }
        let prefixes = &self.prefixes;
        if self.known.len() > MOST_KNOWN {
            self.known.clear();
        }
        let found = *self.known.entry(address).or_insert_with(|| {
            prefixes.iter().find(|(prefix, _)| prefix.contains(address)).map(|&(_, id)| id)
        });
        found.map(|id| self.all[id].serves(now, city))
    }

    /// What serves a city by the number of a prefix.
    pub(crate) fn serves_prefix(&self, now: Duration, anycast: AnycastId, city: CityId) -> Serves {
        self.all[anycast].serves(now, city)
    }

    /// Whether a host announces a prefix now.
    pub(crate) fn is_announced(&self, anycast: AnycastId, host: HostId) -> bool {
        let catchment = &self.all[anycast];
        let now = &catchment.versions[catchment.versions.len() - 1];
        std::iter::zip(&catchment.described.hosts, &now.withdrawn)
            .any(|(&site, how)| site == host && how.is_none())
    }

    /// Makes new versions where faults change what is announced.
    pub(crate) fn announce(&mut self, now: Duration, layout: &Layout, faults: &Faults) {
        for (id, catchment) in self.all.iter_mut().enumerate() {
            catchment.announce(now, layout, id, faults);
        }
    }
}

impl Catchment {
    fn new(layout: &Layout, described: &Anycast) -> Self {
        let sites = described.hosts.len();
        let rank = |city: CityId| {
            let mut order: Vec<usize> = (0..sites).collect();
            order.sort_by_key(|&site| cost(layout, described, city, described.hosts[site]));
            order
        };
        let first = Version {
            withdrawn: vec![None; sites],
            cut_off: BTreeSet::new(),
            heard: vec![Duration::ZERO; layout.cities.len()],
        };
        Self {
            described: described.clone(),
            ranked: (0..layout.cities.len()).map(rank).collect(),
            versions: vec![first],
            changes: 0,
        }
    }

    fn serves(&self, now: Duration, city: CityId) -> Serves {
        let has_heard = |version: &&Version| version.heard[city] <= now;
        let known = self.versions.iter().rev().find(has_heard).unwrap_or(&self.versions[0]);
        let Some(&site) = self.ranked[city].iter().find(|&&site| known.has(city, site)) else {
            return Serves::Nobody;
        };
        let host = self.described.hosts[site];
        let now = &self.versions[self.versions.len() - 1];
        match now.withdrawn[site] {
            None if now.cut_off.contains(&(city, site)) => Serves::CutOff(host),
            None | Some(Transient::OldSite) => Serves::Site(host),
            Some(Transient::Blackhole) => Serves::Blackhole(host),
            Some(Transient::Loop) => Serves::Loop(host),
        }
    }

    fn announce(&mut self, now: Duration, layout: &Layout, id: AnycastId, faults: &Faults) {
        let default = self.described.transient;
        let sites = self.described.hosts.iter();
        let withdrawn: Vec<_> =
            sites.map(|&host| faults.withdrawn(id, host).map(|how| how.unwrap_or(default))).collect();
        let is_cut_off =
            |&(city, site): &(CityId, usize)| !faults.reaches(layout, city, self.described.hosts[site]);
        let sites = self.described.hosts.len();
        let pairs = (0..layout.cities.len()).flat_map(|city| (0..sites).map(move |site| (city, site)));
        let cut_off: BTreeSet<_> =
            if faults.are_none() { BTreeSet::new() } else { pairs.filter(is_cut_off).collect() };
        let last = &self.versions[self.versions.len() - 1];
        if last.withdrawn == withdrawn && last.cut_off == cut_off {
            return;
        }
        // Only who announces, and who can be reached, is news to others. A different transient of the same withdrawal is not.
        let news = last.cut_off != cut_off
            || std::iter::zip(&last.withdrawn, &withdrawn).any(|(a, b)| a.is_some() != b.is_some());
        let heard = if news {
            self.changes += 1;
            let share = |city| layout.convergence_share(id, self.changes, city);
            let delay = |city| self.described.convergence.mul_f64(share(city));
            (0..layout.cities.len()).map(|city| now + delay(city)).collect()
        } else {
            last.heard.clone()
        };
        self.versions.push(Version { withdrawn, cut_off, heard });
        self.forget(now);
    }

    /// Drops versions that every city has left behind.
    fn forget(&mut self, now: Duration) {
        let is_old = |version: &Version| version.heard.iter().all(|&heard| heard <= now);
        if let Some(oldest) = self.versions.iter().rposition(is_old) {
            self.versions.drain(..oldest);
        }
    }
}

impl Version {
    /// Whether a city that has heard of it can go to a site.
    fn has(&self, city: CityId, site: usize) -> bool {
        self.withdrawn[site].is_none() && !self.cut_off.contains(&(city, site))
    }
}

/// What a site costs a city: the round trip between the cities, and what policies add.
fn cost(layout: &Layout, described: &Anycast, city: CityId, host: HostId) -> Duration {
    let bias =
        described.bias.iter().filter(|bias| bias.host == host && bias.from.is_none_or(|from| from == city));
    let policies: Duration = bias.map(|bias| bias.cost).sum();
    layout.city_rtt(city, layout.hosts[host].city) + policies
}

/// A program that sends to every address of a large prefix must not fill our memory.
const MOST_KNOWN: usize = 65_536;
