//! The catchments of an anycast prefix: each city uses the cheapest site whose announcement it has
//! received.
//!
//! A change arrives at each city after a separate delay, drawn from the seed.

use std::{
    collections::{BTreeSet, HashMap},
    net::IpAddr,
    time::Duration,
};

use world::{Anycast, AnycastId, CityId, HostId, Layout, Prefix, file::Transient};

use super::faults::Faults;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Serves {
    Site(HostId),
    CutOff(HostId),
    Blackhole(HostId),
    Loop(HostId),
    Nobody,
}

pub(crate) struct Catchments {
    prefixes: Vec<(Prefix, AnycastId)>,
    known: HashMap<IpAddr, Option<AnycastId>>,
    all: Vec<Catchment>,
}

struct Catchment {
    described: Anycast,
    /// By city, cheapest first, as indices into the description.
    ranked: Vec<Vec<usize>>,
    versions: Vec<Version>,
    changes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Version {
    /// `None` if the site announces the prefix, else the transient for packets to it.
    withdrawn: Vec<Option<Transient>>,
    cut_off: BTreeSet<(CityId, usize)>,
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

    pub(crate) fn serves_prefix(&self, now: Duration, anycast: AnycastId, city: CityId) -> Serves {
        self.all[anycast].serves(now, city)
    }

    pub(crate) fn is_announced(&self, anycast: AnycastId, host: HostId) -> bool {
        let catchment = &self.all[anycast];
        let now = &catchment.versions[catchment.versions.len() - 1];
        std::iter::zip(&catchment.described.hosts, &now.withdrawn)
            .any(|(&site, how)| site == host && how.is_none())
    }

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
        // A changed transient of the same withdrawal does not propagate.
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

    fn forget(&mut self, now: Duration) {
        let is_old = |version: &Version| version.heard.iter().all(|&heard| heard <= now);
        if let Some(oldest) = self.versions.iter().rposition(is_old) {
            self.versions.drain(..oldest);
        }
    }
}

impl Version {
    fn has(&self, city: CityId, site: usize) -> bool {
        self.withdrawn[site].is_none() && !self.cut_off.contains(&(city, site))
    }
}

fn cost(layout: &Layout, described: &Anycast, city: CityId, host: HostId) -> Duration {
    let bias =
        described.bias.iter().filter(|bias| bias.host == host && bias.from.is_none_or(|from| from == city));
    let policies: Duration = bias.map(|bias| bias.cost).sum();
    layout.city_rtt(city, layout.hosts[host].city) + policies
}

/// Bounds the memory if a program sends to every address of a large prefix.
const MOST_KNOWN: usize = 65_536;
