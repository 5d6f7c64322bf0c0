//! Additional data for the map: faults, important links, and the catchment of each site.

use std::collections::BTreeSet;

use crate::{CityId, Effect, Layout};

/// Additions to the map of a world.
#[derive(Debug, Clone, Default)]
pub struct Overlay {
    /// Links to draw in any case, the lower index first.
    pub links: BTreeSet<(CityId, CityId)>,
    /// The current faults of links and cities. Faults of single hosts are not shown.
    pub faults: Vec<Effect>,
    /// The anycast site that each city reaches.
    pub catchment: Option<Catchment>,
}

/// The anycast site that each city reaches.
#[derive(Debug, Clone)]
pub struct Catchment {
    /// The prefix's name.
    pub name: String,
    /// The cities that announce it.
    pub sites: Vec<CityId>,
    /// Index of the site by city; `None`: no site is reachable.
    pub of: Vec<Option<usize>>,
}

impl Overlay {
    pub(super) fn fault(&self, layout: &Layout, (a, b): (CityId, CityId)) -> Option<String> {
        self.faults.iter().find_map(|fault| match fault {
            Effect::Link { between, change } => (*between == (a, b)).then(|| change.to_string()),
            Effect::City(city) => {
                (*city == a || *city == b).then(|| format!("{} is down", layout.cities[*city].name))
            }
            Effect::Partition(group_of) => {
                (group_of.get(a) != group_of.get(b)).then(|| "partition".to_owned())
            }
            Effect::Lines { .. } | Effect::Host { .. } | Effect::Withdraw { .. } => None,
        })
    }

    pub(super) fn changed(&self) -> impl Iterator<Item = (CityId, CityId)> {
        self.faults.iter().filter_map(|fault| match fault {
            Effect::Link { between, .. } => Some(*between),
            _ => None,
        })
    }

    pub(super) fn is_dark(&self, city: CityId) -> bool {
        self.faults.contains(&Effect::City(city))
    }

    pub(super) fn site_of(&self, city: CityId) -> Option<usize> {
        self.catchment.as_ref()?.of.get(city).copied().flatten()
    }

    pub(super) fn is_site(&self, city: CityId) -> bool {
        self.catchment.as_ref().is_some_and(|catchment| catchment.sites.contains(&city))
    }
}
