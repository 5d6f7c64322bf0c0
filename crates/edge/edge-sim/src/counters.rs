//! The counters of a topology.

use recording::Histogram;
use tier_routing::{DataCentreId, Role};
use world::gazetteer;

#[derive(Debug)]
pub(crate) struct Tally {
    pub(crate) requests: u64,
    pub(crate) bytes: u64,
    pub(crate) saved: u64,
    pub(crate) saved_bytes: u64,
    /// See [`place`].
    pub(crate) roles: [OfRole; ROLES],
    pub(crate) origin_requests: u64,
    pub(crate) origin_bytes: u64,
    /// Indexed by receiver and sender.
    pub(crate) links: Vec<u64>,
    pub(crate) from_origin: Vec<u64>,
    /// In nanoseconds.
    pub(crate) cities: Vec<Histogram>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OfRole {
    pub(crate) asked: u64,
    pub(crate) hits: u64,
    pub(crate) joined: u64,
}

impl Tally {
    pub(crate) fn new(centres: usize) -> Self {
        Self {
            requests: 0,
            bytes: 0,
            saved: 0,
            saved_bytes: 0,
            roles: [OfRole::default(); ROLES],
            origin_requests: 0,
            origin_bytes: 0,
            links: vec![0; centres * centres],
            from_origin: vec![0; centres],
            // Two digits: an error of half a percent, with 20 KB per city.
            cities: vec![Histogram::new(2); gazetteer::cities().len()],
        }
    }

    pub(crate) fn role(&mut self, role: Role) -> &mut OfRole {
        &mut self.roles[place(role)]
    }

    pub(crate) fn carried(&mut self, to: DataCentreId, from: DataCentreId, bytes: u64) {
        let centres = self.from_origin.len();
        self.links[usize::from(to.0) * centres + usize::from(from.0)] += bytes;
    }
}

pub(crate) const NAMES: [&str; ROLES] = ["lower", "regional", "upper", "former", "detour"];

const ROLES: usize = 5;

/// All upper tiers of an operator's map are counted together.
fn place(role: Role) -> usize {
    match role {
        Role::Lower => 0,
        Role::Regional => 1,
        Role::Upper(_) => 2,
        Role::Former => 3,
        Role::Detour => 4,
    }
}
