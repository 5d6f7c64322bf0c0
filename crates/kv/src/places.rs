//! In which data centres a key has copies above those that read it, and who is told of a write.
//!
//! Who reads asks the key's *regional tier*, one data centre of its own region; that one asks the key's *upper tier*, one of the data
//! centres in a store's region; and that one the stores. Both follow from the key by weighted rendezvous hashing. So a write has a number of
//! places to tell that depends on how many regions there are, and not on how many data centres.

use tiers::{CentreId, KeyHash, Network, Rendezvous};

/// The places of all keys.
#[derive(Debug, Clone)]
pub struct Places {
    network: Network,
    /// One data centre of each region.
    regions: Vec<CentreId>,
    /// The data centres that are near a store.
    upper: Rendezvous,
}

/// Who is told of a write: no more than these, however large the network is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The key's regional tier in each region.
    pub regional: Vec<CentreId>,
    /// The key's upper tier; one of the others may be the same.
    pub upper: Option<CentreId>,
}

impl Places {
    /// Those of a network with stores in these data centres.
    pub fn new(network: Network, stores: &[CentreId]) -> Self {
        let mut regions: Vec<CentreId> = Vec::new();
        for id in network.ids() {
            if !regions.iter().any(|&known| network.are_neighbours(known, id)) {
                regions.push(id);
            }
        }
        let is_near = |id: &CentreId| stores.iter().any(|&store| network.are_neighbours(store, *id));
        let near = network.ids().filter(is_near);
        let near = near.map(|id| (id, network.centre(id).name.as_str(), network.centre(id).weight));
        let upper = Rendezvous::new(near);
        Self { network, regions, upper }
    }

    /// A key's place among all keys of all namespaces.
    pub fn hash(namespace: &str, key: &str) -> KeyHash {
        KeyHash::of(format!("{namespace}\0{key}").as_bytes())
    }

    /// The key's regional tier in the region of a data centre, among those that answer.
    pub fn regional(
        &self,
        key: KeyHash,
        of: CentreId,
        answers: impl Fn(CentreId) -> bool,
    ) -> Option<CentreId> {
        self.network.hubs(of).first(key, answers)
    }

    /// The key's upper tier, among those that answer.
    pub fn upper(&self, key: KeyHash, answers: impl Fn(CentreId) -> bool) -> Option<CentreId> {
        self.upper.first(key, answers)
    }

    /// Who is asked next for a key by a data centre, among those that answer; `None` if it asks the stores itself. Each one that is
    /// asked asks somebody nearer to the stores, so that nobody is asked twice.
    pub fn next(&self, key: KeyHash, at: CentreId, answers: impl Fn(CentreId) -> bool) -> Option<CentreId> {
        let upper = self.upper(key, &answers);
        if upper == Some(at) {
            return None;
        }
        match self.regional(key, at, &answers) {
            Some(regional) if regional != at => Some(regional),
            _ => upper,
        }
    }

    /// Who is told of a write.
    pub fn told(&self, key: KeyHash) -> Told {
        let regional = self.regions.iter().filter_map(|&region| self.regional(key, region, |_| true));
        Told { regional: regional.collect(), upper: self.upper(key, |_| true) }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;
    use tiers::Centre;

    use super::*;

    /// Six regions with as many data centres each, and a store in the first one of the first two.
    fn places(each: u16) -> Places {
        let centre = |number: u16| Centre {
            name: format!("dc{number}"),
            region: format!("r{}", number % 6),
            weight: u32::from(number % 3) + 1,
        };
        let network = Network::new((0..6 * each).map(centre).collect(), |_, _| Duration::ZERO);
        Places::new(network, &[CentreId(0), CentreId(1)])
    }

    proptest! {
        #[test]
        fn each_key_is_asked_for_on_a_way_that_ends_at_the_stores(
            key in "[a-z]{1,8}",
            at in 0..60_u16,
            down in prop::collection::vec(0..60_u16, 0..20),
        ) {
            let (places, key) = (places(10), Places::hash("ns", &key));
            let answers = |id: CentreId| !down.contains(&id.0) || id.0 == at;
            let (mut at, mut way) = (CentreId(at), 0);
            while let Some(next) = places.next(key, at, answers) {
                prop_assert!(answers(next));
                (at, way) = (next, way + 1);
                // Regional tier, upper tier, stores.
                prop_assert!(way <= 2);
            }
        }

        #[test]
        fn who_holds_a_copy_above_the_readers_is_told_of_a_write(key in "[a-z]{1,8}", at in 0..60_u16) {
            let (places, key) = (places(10), Places::hash("ns", &key));
            let told = places.told(key);
            let mut at = CentreId(at);
            while let Some(next) = places.next(key, at, |_| true) {
                prop_assert!(told.regional.contains(&next) || told.upper == Some(next));
                at = next;
            }
        }
    }

    #[test]
    fn a_write_tells_as_many_in_a_large_network_as_in_a_small_one() {
        for each in [1, 2, 50] {
            let told = places(each).told(Places::hash("ns", "key"));
            assert_eq!((told.regional.len(), told.upper.is_some()), (6, true));
        }
    }
}
