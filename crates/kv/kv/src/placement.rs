//! Which data centres hold copies of a key, and which are notified of a write.
//!
//! A data centre requests a key from the *regional tier* of its region, which requests it from the
//! *upper tier* in a store's region, which requests it from a store. Both are selected by weighted
//! rendezvous hashing of the key.
//!
//! The receiver of a request forwards it only to a higher tier, so requests do not loop.

use tier_routing::{DataCentreId, KeyHash, Network, Rendezvous};

/// The tier in which a data centre is requested, or that supplied a response, in ascending order of
/// proximity to a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// The data centre that serves clients.
    Lower,
    /// The key's tier in the region of the lower tier.
    Regional,
    /// The key's tier in the region of a store.
    Upper,
    /// A data centre with a store.
    Store,
}

impl Tier {
    /// All tiers, lowest first.
    pub const ALL: [Self; 4] = [Self::Lower, Self::Regional, Self::Upper, Self::Store];

    /// The name in responses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lower => "lower",
            Self::Regional => "regional",
            Self::Upper => "upper",
            Self::Store => "store",
        }
    }

    /// The tier with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tier| tier.name() == name)
    }
}

/// The tiers of all keys in a network.
#[derive(Debug, Clone)]
pub struct Placement {
    network: Network,
    stores: Vec<DataCentreId>,
    /// One data centre of each region.
    regions: Vec<DataCentreId>,
    upper: Rendezvous,
}

impl Placement {
    /// The tiers of a network with stores in these data centres.
    pub fn new(network: Network, stores: &[DataCentreId]) -> Self {
        let mut regions: Vec<DataCentreId> = Vec::new();
        for id in network.ids() {
            if !regions.iter().any(|&known| network.are_neighbours(known, id)) {
                regions.push(id);
            }
        }
        let is_near = |id: &DataCentreId| stores.iter().any(|&store| network.are_neighbours(store, *id));
        let near = network.ids().filter(is_near);
        let near = near.map(|id| (id, network.centre(id).name.as_str(), network.centre(id).weight));
        let upper = Rendezvous::new(near);
        Self { network, stores: stores.to_vec(), regions, upper }
    }

    /// The data centres with a store.
    pub fn stores(&self) -> &[DataCentreId] {
        &self.stores
    }

    /// The hash of a key among the keys of all namespaces.
    pub fn hash(namespace: &str, key: &str) -> KeyHash {
        KeyHash::of(format!("{namespace}\0{key}").as_bytes())
    }

    /// The key's regional tier in the region of a data centre, among the reachable ones
    /// (`answers`).
    pub fn regional(
        &self,
        key: KeyHash,
        of: DataCentreId,
        answers: impl Fn(DataCentreId) -> bool,
    ) -> Option<DataCentreId> {
        self.network.hubs(of).first(key, answers)
    }

    /// The key's upper tier, among the reachable data centres (`answers`).
    pub fn upper(&self, key: KeyHash, answers: impl Fn(DataCentreId) -> bool) -> Option<DataCentreId> {
        self.upper.first(key, answers)
    }

    /// The reachable data centre (`answers`) to which `at`, requested in tier `asked_as`, forwards
    /// a request, and its tier; `None` if `at` has a store.
    pub fn next(
        &self,
        key: KeyHash,
        (at, asked_as): (DataCentreId, Tier),
        answers: impl Fn(DataCentreId) -> bool,
    ) -> Option<(DataCentreId, Tier)> {
        if self.stores.contains(&at) {
            return None;
        }
        let upper = self.upper(key, &answers).filter(|&upper| upper != at && asked_as < Tier::Upper);
        let regional = self.regional(key, at, &answers).filter(|&regional| regional != at);
        match (regional, upper) {
            // Without a higher upper tier, this data centre is the upper tier itself, or was
            // requested as one.
            (Some(regional), Some(_)) if asked_as < Tier::Regional => Some((regional, Tier::Regional)),
            (_, Some(upper)) => Some((upper, Tier::Upper)),
            _ => self.store(&answers).map(|store| (store, Tier::Store)),
        }
    }

    /// The store for reads and writes: the first reachable one (`answers`), or else the first.
    pub fn store(&self, answers: impl Fn(DataCentreId) -> bool) -> Option<DataCentreId> {
        self.stores.iter().copied().find(|&store| answers(store)).or_else(|| self.stores.first().copied())
    }

    /// The store for a data centre, as [`Self::store`]; `None` if the data centre has one itself.
    pub fn far_store(
        &self,
        at: DataCentreId,
        answers: impl Fn(DataCentreId) -> bool,
    ) -> Option<DataCentreId> {
        if self.stores.contains(&at) { None } else { self.store(answers) }
    }

    /// The data centres that are notified of a write: the key's regional tier in each region, and
    /// its upper tier.
    pub fn told(&self, key: KeyHash, answers: impl Fn(DataCentreId) -> bool) -> Vec<DataCentreId> {
        let mut told: Vec<_> =
            self.regions.iter().filter_map(|&region| self.regional(key, region, |_| true)).collect();
        told.extend(self.regions.iter().filter_map(|&region| self.regional(key, region, &answers)));
        told.extend(self.upper(key, |_| true));
        told.extend(self.upper(key, &answers));
        told.sort_unstable();
        told.dedup();
        told
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;
    use tier_routing::Centre;

    use super::*;

    fn places(each: u16) -> Placement {
        let centre = |number: u16| Centre {
            name: format!("dc{number}"),
            region: format!("r{}", number % 6),
            weight: u32::from(number % 3) + 1,
        };
        let network = Network::new((0..6 * each).map(centre).collect(), |_, _| Duration::ZERO);
        Placement::new(network, &[DataCentreId(0), DataCentreId(1)])
    }

    proptest! {
        #[test]
        fn each_key_is_asked_for_on_a_way_that_ends_at_a_store(
            key in "[a-z]{1,8}",
            at in 0..60_u16,
            down in prop::collection::vec(prop::collection::vec(2..60_u16, 0..20), 4),
        ) {
            let (places, key) = (places(10), Placement::hash("ns", &key));
            let (mut at, mut asked_as, mut way) = (DataCentreId(at), Tier::Lower, 0);
            while let Some((next, tier)) = places.next(key, (at, asked_as), |id| !down[way].contains(&id.0)) {
                prop_assert!(!down[way].contains(&next.0) && tier > asked_as && next != at);
                (at, asked_as, way) = (next, tier, way + 1);
                prop_assert!(way <= 3);
            }
            prop_assert!(at.0 < 2);
        }

        #[test]
        fn who_holds_a_copy_above_the_readers_is_told_of_a_write(
            key in "[a-z]{1,8}",
            at in 0..60_u16,
            down in prop::collection::vec(2..60_u16, 0..20),
        ) {
            let (places, key) = (places(10), Placement::hash("ns", &key));
            let answers = |id: DataCentreId| !down.contains(&id.0);
            let told = places.told(key, answers);
            let (mut at, mut asked_as) = (DataCentreId(at), Tier::Lower);
            while let Some((next, tier)) = places.next(key, (at, asked_as), answers) {
                prop_assert!(told.contains(&next) || tier == Tier::Store);
                (at, asked_as) = (next, tier);
            }
        }
    }

    #[test]
    fn a_write_tells_as_many_in_a_large_network_as_in_a_small_one() {
        let most = |each| {
            let told =
                |number: u32| places(each).told(Placement::hash("ns", &number.to_string()), |_| true).len();
            (0..50).map(told).max()
        };
        assert_eq!([1, 2, 50].map(most), [Some(6); 3]);
    }

    #[test]
    fn whoever_has_a_store_asks_nobody() {
        let (places, key) = (places(10), Placement::hash("ns", "key"));
        assert_eq!(places.next(key, (DataCentreId(0), Tier::Lower), |_| true), None);
        // Whatever else is reachable.
        assert_eq!(
            places.next(key, (DataCentreId(7), Tier::Upper), |_| true),
            Some((DataCentreId(0), Tier::Store))
        );
        assert_eq!(
            places.next(key, (DataCentreId(7), Tier::Upper), |id| id.0 != 0),
            Some((DataCentreId(1), Tier::Store))
        );
        assert_eq!(
            places.next(key, (DataCentreId(7), Tier::Upper), |_| false),
            Some((DataCentreId(0), Tier::Store))
        );
        for tier in Tier::ALL {
            assert_eq!(Tier::named(tier.name()), Some(tier));
        }
    }
}
