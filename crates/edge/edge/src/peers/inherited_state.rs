//! State that is kept when the list of data centres changes, so that a reload closes no links and
//! discards no measurements.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, PoisonError},
};

use ::tier_routing::{DataCentreId, Regional, Renumbering, Topology, Zone as TiersOf};

use super::{
    peer::Peer,
    table::{Peers, lock, write},
};

impl Peers {
    pub(super) fn matching_peer(&self, name: &str, address: std::net::SocketAddr) -> Option<Arc<Peer>> {
        let found = self.all().find(|(_, peer)| peer.name == name && peer.address == address);
        let (centre, _) = found?;
        self.shared_peer(centre)
    }

    pub(super) fn inherit(&self, previous: &Self) {
        let to = Renumbering::new(previous.data_centres(), self.data_centres());
        let mut health = previous.health();
        // The health of a peer at a new address is unknown: it counts as up.
        for (centre, _) in previous.all() {
            let is_same = to.of(centre).zip(previous.shared_peer(centre));
            let is_same = is_same.is_some_and(|(new, peer)| std::ptr::eq(&*peer, self.peer(new)));
            if !is_same {
                health.set(centre, ::tier_routing::State::Up);
            }
        }
        self.set_health(health.renumbered(&to));
        let routes = previous.origin_routes().renumbered(&to, self.own_id());
        *self.origin_routes() = routes;
        *lock(&self.peer_choices) = renumbered(&lock(&previous.peer_choices), &to);
        let zones = previous.zones.read().unwrap_or_else(PoisonError::into_inner);
        let smart = zones.iter().filter_map(|(zone, tiers)| {
            let Topology::Smart(smart) = tiers.topology() else { return None };
            let topology = Topology::Smart(smart.renumbered(&to).into());
            Some((zone.clone(), TiersOf::new(self.data_centres(), topology, Regional::Skipped)))
        });
        *write(&self.zones) = smart.collect();
    }
}

type PeerChoices = HashMap<String, BTreeMap<DataCentreId, DataCentreId>>;

fn renumbered(choices: &PeerChoices, to: &Renumbering) -> PeerChoices {
    let of_zone = |choices: &BTreeMap<DataCentreId, DataCentreId>| {
        choices.iter().filter_map(|(&by, &chosen)| Some((to.of(by)?, to.of(chosen)?))).collect()
    };
    choices.iter().map(|(zone, choices)| (zone.clone(), of_zone(choices))).collect()
}
