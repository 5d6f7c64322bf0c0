//! Who is asked next for a key that is not here.
//!
//! A request says in which role its receiver is asked, and each step leads to a role that comes later: lower, regional, upper (one above
//! the other in an operator's map), former, detour, and then the origin. So there are no loops, whatever data centres think of one another
//! and however their configurations differ for a while. It also says through which data centres it came, as each hop names itself (CDN-Loop,
//! RFC 8586): none of these is asked again, or a fill that waits for another could be asked to wait for itself.

use std::time::Duration;

use crate::{Basis, CentreId, Custom, Health, KeyHash, Network, Rendezvous, Smart};

/// As what a data centre is asked. What comes later is nearer to the origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// By a visitor.
    Lower,
    /// By others of its region.
    Regional,
    /// By lower or regional ones, or in an operator's map by an upper one: how many of these were asked with this one.
    Upper(u16),
    /// By the one that took its place as the upper tier.
    Former,
    /// To reach the origin for another that cannot.
    Detour,
}

/// Who wants to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked<'a> {
    /// The data centre.
    pub here: CentreId,
    /// As what it was asked.
    pub role: Role,
    /// For what.
    pub key: KeyHash,
    /// The data centres through which the request came.
    pub through: &'a [CentreId],
}

impl Asked<'_> {
    /// Whether a data centre can be asked: it answers, and the request was not there.
    fn may_ask(&self, health: &Health, centre: CentreId) -> bool {
        health.is_up(centre) && !self.through.contains(&centre)
    }
}

/// Who is asked next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hop {
    /// Another data centre, in this role.
    Centre {
        /// Which.
        centre: CentreId,
        /// As what.
        role: Role,
    },
    /// The origin: [`crate::Reach`] says over which route.
    Origin,
}

/// How the data centres of a zone ask one another.
#[derive(Debug, Clone)]
pub enum Topology {
    /// Each asks the origin.
    None,
    /// The one nearest to the origin asks it.
    Smart(Box<Smart>),
    /// Each key has one of the large data centres, which asks the origin for it.
    Generic,
    /// As the operator has it.
    Custom(Custom),
}

/// Whether a data centre of the visitor's region is asked first where the upper tier is in another region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Regional {
    /// It is.
    Asked,
    /// The upper tier is asked at once.
    Skipped,
}

/// The tiers of one zone.
#[derive(Debug, Clone)]
pub struct Zone {
    topology: Topology,
    regional: Regional,
    /// In an operator's map by data centre: who of its region asks the same upper tier.
    siblings: Vec<Rendezvous>,
}

impl Zone {
    /// A zone's tiers. Where keys are spread over many data centres anyway, there are no regional ones.
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

    /// The topology, to have its choice reviewed.
    pub fn topology_mut(&mut self) -> &mut Topology {
        &mut self.topology
    }

    /// Who is asked next for what is not here. Whoever is down is passed over: for the next candidate, or else for the origin.
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
                // Who is down is passed over: its own upper tier is the next candidate.
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

    /// The upper tier, or before it the region's own data centre for the key.
    fn through_region<'n>(
        &self,
        network: &Network,
        asked: Asked<'_>,
        upper: CentreId,
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

/// The large data centre that has the key, unless this is it.
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

/// The upper tier asks the one whose place it took, for a while.
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

/// Those of a data centre's region that ask the same upper tier as it does, itself included.
fn siblings(network: &Network, map: &Custom, here: CentreId) -> Rendezvous {
    let alike = |id: &CentreId| network.are_neighbours(*id, here) && map.above(*id) == map.above(here);
    Rendezvous::new(network.ids().filter(alike).map(|id| {
        let centre = network.centre(id);
        (id, centre.name.as_str(), centre.weight)
    }))
}

#[cfg(test)]
mod tests;
