//! What is simulated: a zone of a network, an origin's place, and how its data centres store.

use std::time::Duration;

use edge::{
    Network,
    network::{Tiers, Zone},
};
use tiers::{Health, Measurements, Regional, Smart, Topology, Tuning};

use crate::{
    Error, Policy,
    places::{Place, Places},
};

/// A network of which one zone is simulated.
#[derive(Debug, Clone)]
pub struct Plan {
    pub(crate) network: Network,
    pub(crate) zone: usize,
    pub(crate) origin: Place,
    pub(crate) places: Places,
    pub(crate) policy: Policy,
    /// Bytes that each data centre stores, instead of what the file says.
    pub(crate) store: Option<u64>,
}

/// A topology by its name, as data centres have it.
pub(crate) struct Named {
    pub(crate) name: &'static str,
    pub(crate) zone: tiers::Zone,
    /// What a choice rests on.
    pub(crate) reason: Option<String>,
}

impl Plan {
    /// Of a network that was read for a simulation; `zone` may be left out if there is one.
    ///
    /// # Errors
    /// When the zone or the origin's city is not known, or there are too many data centres.
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

    /// Stores give up objects by this rule.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Each data centre stores so many bytes.
    #[must_use]
    pub fn with_stores(mut self, bytes: u64) -> Self {
        self.store = Some(bytes);
        self
    }

    /// The zone.
    pub fn zone(&self) -> &Zone {
        &self.network.zones[self.zone]
    }

    /// All that is simulated side by side: what everybody can have, and the operator's own map if there is one.
    pub(crate) fn topologies(&self, network: &tiers::Network) -> Vec<Named> {
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
            let zone = tiers::Zone::new(network, topology, regional);
            Named { name, zone, reason }
        };
        all.into_iter().map(named).collect()
    }

    /// The choice of data centres that have all connected to the origin often enough, as they have in a network that runs.
    fn smart(&self, network: &tiers::Network) -> Smart {
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

/// Links between any two are counted: 2 MB of them.
const MOST_CENTRES: usize = 500;
