//! The input of a simulation: a zone of a network, the origin's position, and the stores.

use std::time::Duration;

use edge::{
    Network,
    config::{Tiers, Zone},
};
use tier_routing::{Health, Measurements, Regional, Smart, Topology, Tuning};

use crate::{
    Error, Policy,
    geography::{Place, Places},
};

/// A zone of a network, as the input of a simulation.
#[derive(Debug, Clone)]
pub struct Plan {
    pub(crate) network: Network,
    pub(crate) zone: usize,
    pub(crate) origin: Place,
    pub(crate) places: Places,
    pub(crate) policy: Policy,
    /// Per data centre, in bytes; overrides the network's file.
    pub(crate) store: Option<u64>,
}

pub(crate) struct Named {
    pub(crate) name: &'static str,
    pub(crate) zone: tier_routing::Zone,
    pub(crate) reason: Option<String>,
}

impl Plan {
    /// Creates a plan. The network must have been read for a simulation. `zone` may be omitted if
    /// there is only one.
    ///
    /// # Errors
    /// Fails if the zone or the origin's city is unknown, or if there are too many data centres.
    pub fn new(network: Network, zone: Option<&str>, origin: Place) -> Result<Self, Error> {
        let known = || network.zones.iter().map(|zone| zone.name.clone()).collect();
        let zone = match zone {
            Some(name) => network
                .zones
                .iter()
                .position(|zone| zone.name == name)
                .ok_or_else(|| Error::Zone { name: name.to_owned(), known: known() })?,
            None if network.zones.len() > 1 => return Err(Error::WhichZone { known: known() }),
            None => 0,
        };
        let count = network.data_centres.len();
        if count > MOST_CENTRES {
            return Err(Error::TooMany { count, most: MOST_CENTRES });
        }
        let places = Places::new(&network, &origin)?;
        Ok(Self { network, zone, origin, places, policy: Policy::default(), store: None })
    }

    /// Sets the eviction policy.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets the store size of each data centre.
    #[must_use]
    pub fn with_stores(mut self, bytes: u64) -> Self {
        self.store = Some(bytes);
        self
    }

    /// The zone.
    pub fn zone(&self) -> &Zone {
        &self.network.zones[self.zone]
    }

    /// The standard ones, and the operator's map if there is one.
    pub(crate) fn topologies(&self, network: &tier_routing::Network) -> Vec<Named> {
        let smart = self.smart(network);
        let has_regions = self.network.data_centres.iter().all(|centre| centre.region.is_some());
        let reason = || Some(smart.choice().reason.clone());
        let mut all = vec![
            ("none", Topology::None, Regional::Skipped, None),
            ("generic", Topology::Generic, Regional::Skipped, None),
            ("smart", Topology::Smart(smart.clone().into()), Regional::Skipped, reason()),
        ];
        if has_regions {
            all.push(("smart+regional", Topology::Smart(smart.clone().into()), Regional::Asked, reason()));
        }
        if let Tiers::Custom(map) = &self.zone().tiers {
            let (name, regional) = match self.zone().regional {
                true => ("custom+regional", Regional::Asked),
                false => ("custom", Regional::Skipped),
            };
            all.push((name, Topology::Custom(map.clone()), regional, None));
        }
        let named = |(name, topology, regional, reason)| {
            let zone = tier_routing::Zone::new(network, topology, regional);
            Named { name, zone, reason }
        };
        all.into_iter().map(named).collect()
    }

    /// After all data centres have measured their connections to the origin, as in a running
    /// network.
    fn smart(&self, network: &tier_routing::Network) -> Smart {
        let mut measured = Measurements::new(network.len());
        for id in network.ids() {
            let connect = Duration::from_nanos(self.places.to_origin(id));
            (0..Measurements::FEWEST).for_each(|_| measured.add(Duration::ZERO, id, connect));
        }
        let mut smart = Smart::new(Tuning::default());
        smart.review(Duration::ZERO, network, (&measured, &[]), &Health::default());
        smart
    }
}

/// Limits the traffic matrix to 2 MB.
const MOST_CENTRES: usize = 500;
