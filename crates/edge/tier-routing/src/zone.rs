//! The next hop of a request that misses in a data centre.
//!
//! Each hop leads to a higher role: lower, regional, upper, former, detour, and then the origin. So
//! requests do not loop, even if data centres have different configurations. A request also lists
//! the data centres it has passed (CDN-Loop, RFC 8586), which are not requested again: otherwise a
//! fill could wait for itself through collapsed forwarding.

use std::time::Duration;

use crate::{Basis, Custom, DataCentreId, Health, KeyHash, Network, Rendezvous, Smart};

/// The role in which a data centre is requested. Higher roles are nearer to the origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Serves visitors.
    Lower,
    /// Requested by other data centres of the same region.
    Regional,
    /// Requested by lower or regional tiers, or by an upper tier in an operator's map. Counts from
    /// 1.
    Upper(u16),
    /// Requested by the upper tier that replaced it.
    Former,
    /// Requested to reach the origin for a data centre that cannot reach it.
    Detour,
}

/// A request that needs a next hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked<'a> {
    /// The data centre that holds the request.
    pub here: DataCentreId,
    /// The role in which it was requested.
    pub role: Role,
    /// The hash of the cache key.
    pub key: KeyHash,
    /// The data centres that the request has passed.
    pub through: &'a [DataCentreId],
}

impl Asked<'_> {
    fn may_ask(&self, health: &Health, centre: DataCentreId) -> bool {
        health.is_up(centre) && !self.through.contains(&centre)
    }
}

/// The next hop of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hop {
    /// Another data centre.
    Centre {
        /// The data centre.
        centre: DataCentreId,
        /// Its role.
        role: Role,
    },
    /// The origin; [`crate::RouteSelector`] selects the route.
    Origin,
}

/// The topology of a zone's tiers.
#[derive(Debug, Clone)]
pub enum Topology {
    /// No tiers: each data centre requests from the origin.
    None,
    /// The data centre nearest to the origin is the upper tier.
    Smart(Box<Smart>),
    /// Keys are spread over the large data centres, each the upper tier of its keys.
    Generic,
    /// The operator's own map.
    Custom(Custom),
}

/// Whether a regional tier is used if the upper tier is in another region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Regional {
    /// A data centre of the visitor's region is requested first.
    Asked,
    /// The upper tier is requested directly.
    Skipped,
}

/// The tiers of one zone.
#[derive(Debug, Clone)]
pub struct Zone {
    topology: Topology,
    regional: Regional,
    /// In an operator's map, for each data centre: those of its region with the same upper tier.
    siblings: Vec<Rendezvous>,
}

impl Zone {
    /// The tiers of a zone. [`Topology::Generic`] has no regional tier.
    pub fn new(network: &Network, topology: Topology, regional: Regional) -> Self {
        let siblings = match (&topology, regional) {
            (Topology::Custom(map), Regional::Asked) => {
                network.ids().map(|here| siblings(network, map, here)).collect()
            }
            _ => Vec::new(),
        };
        Self { topology, regional, siblings }
    }

    /// The topology.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The topology, for reviews of its choice.
    pub fn topology_mut(&mut self) -> &mut Topology {
        &mut self.topology
    }

    /// The next hop after a miss. Unreachable data centres are skipped.
    pub fn next(&self, now: Duration, network: &Network, asked: Asked<'_>, health: &Health) -> Hop {
        let Asked { here, role, .. } = asked;
        match &self.topology {
            Topology::None => Hop::Origin,
            Topology::Generic => spread(network, asked, health),
            Topology::Smart(smart) => match (role, smart.choice().basis) {
                (_, Basis::Unknown | Basis::SeveralPlaces) => spread(network, asked, health),
                (Role::Lower | Role::Regional, Basis::Nearest(_)) => {
                    let mut candidates = smart.candidates();
                    match candidates.find(|&id| id == here || asked.may_ask(health, id)) {
                        Some(upper) if upper == here => before_origin(now, smart, asked, health),
                        Some(upper) => {
                            let hubs = || network.hubs(here);
                            self.through_region(network, asked, upper, hubs, health)
                        }
                        None => Hop::Origin,
                    }
                }
                (Role::Upper(_), Basis::Nearest(_)) => before_origin(now, smart, asked, health),
                (Role::Former | Role::Detour, _) => Hop::Origin,
            },
            Topology::Custom(map) => {
                let step = match role {
                    Role::Lower | Role::Regional => 1,
                    Role::Upper(step) => step.saturating_add(1),
                    Role::Former | Role::Detour => return Hop::Origin,
                };
                // The next candidate is the unreachable one's own upper tier.
                let mut above = map.above(here);
                while let Some(upper) = above.filter(|&upper| !asked.may_ask(health, upper)) {
                    above = map.above(upper);
                }
                match above {
                    Some(upper) if role == Role::Lower => {
                        let hubs = || &self.siblings[usize::from(here.0)];
                        self.through_region(network, asked, upper, hubs, health)
                    }
                    Some(centre) if step < u16::MAX => Hop::Centre { centre, role: Role::Upper(step) },
                    _ => Hop::Origin,
                }
            }
        }
    }

    fn through_region<'n>(
        &self,
        network: &Network,
        asked: Asked<'_>,
        upper: DataCentreId,
        hubs: impl FnOnce() -> &'n Rendezvous,
        health: &Health,
    ) -> Hop {
        let Asked { here, role, key, .. } = asked;
        let wants_hub =
            self.regional == Regional::Asked && role == Role::Lower && !network.are_neighbours(here, upper);
        if wants_hub {
            let hub = hubs().first(key, |id| id == here || asked.may_ask(health, id));
            if let Some(centre) = hub.filter(|&hub| hub != here) {
                return Hop::Centre { centre, role: Role::Regional };
            }
        }
        Hop::Centre { centre: upper, role: Role::Upper(1) }
    }
}

fn spread(network: &Network, asked: Asked<'_>, health: &Health) -> Hop {
    let Asked { here, role, key, .. } = asked;
    if role > Role::Regional {
        return Hop::Origin;
    }
    match network.large().first(key, |id| id == here || asked.may_ask(health, id)) {
        Some(centre) if centre != here => Hop::Centre { centre, role: Role::Upper(1) },
        _ => Hop::Origin,
    }
}

/// The upper tier first requests from the data centre that it replaced, for a while.
fn before_origin(now: Duration, smart: &Smart, asked: Asked<'_>, health: &Health) -> Hop {
    let is_chosen = smart.choice().basis == Basis::Nearest(asked.here);
    match smart
        .former(now)
        .filter(|&former| is_chosen && former != asked.here && asked.may_ask(health, former))
    {
        Some(centre) => Hop::Centre { centre, role: Role::Former },
        None => Hop::Origin,
    }
}

fn siblings(network: &Network, map: &Custom, here: DataCentreId) -> Rendezvous {
    let alike = |id: &DataCentreId| network.are_neighbours(*id, here) && map.above(*id) == map.above(here);
    Rendezvous::new(network.ids().filter(alike).map(|id| {
        let centre = network.centre(id);
        (id, centre.name.as_str(), centre.weight)
    }))
}

#[cfg(test)]
mod tests;
