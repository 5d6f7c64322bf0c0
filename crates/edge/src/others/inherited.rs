//! State that is kept when the list of data centres changes. Otherwise each reload would close links, discard
//! measurements, and leave upper tiers unknown until all routes were measured again.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, PoisonError},
};

use ::tiers::{CentreId, Regional, Renumbering, Topology, Zone as TiersOf};

use super::{
    peer::Peer,
    view::{Others, lock, write},
};

impl Others {
    pub(super) fn peer_like(&self, name: &str, address: std::net::SocketAddr) -> Option<Arc<Peer>> {
        let found = self.all().find(|(_, peer)| peer.name == name && peer.address == address);
        let (centre, _) = found?;
        self.shared_peer(centre)
    }

    /// Takes over the state of the previous peers, for data centres in both configurations.
    pub(super) fn inherit(&self, before: &Self) {
        let to = Renumbering::new(before.centres(), self.centres());
        let mut health = before.health();
        // The health of a peer at a new address is unknown: it counts as up.
        for (centre, _) in before.all() {
            let is_same = to.of(centre).zip(before.shared_peer(centre));
            let is_same = is_same.is_some_and(|(new, peer)| std::ptr::eq(&*peer, self.peer(new)));
            if !is_same {
                health.set(centre, ::tiers::State::Up);
            }
        }
        self.put_health(health.renumbered(&to));
        let ways = before.ways().renumbered(&to, self.here());
        *self.ways() = ways;
        *lock(&self.told) = renumbered(&lock(&before.told), &to);
        let zones = before.zones.read().unwrap_or_else(PoisonError::into_inner);
        let smart = zones.iter().filter_map(|(zone, tiers)| {
            let Topology::Smart(smart) = tiers.topology() else { return None };
            let topology = Topology::Smart(smart.renumbered(&to).into());
            Some((zone.clone(), TiersOf::new(self.centres(), topology, Regional::Skipped)))
        });
        *write(&self.zones) = smart.collect();
    }
}

type Told = HashMap<String, BTreeMap<CentreId, CentreId>>;

fn renumbered(told: &Told, to: &Renumbering) -> Told {
    let of_zone = |choices: &BTreeMap<CentreId, CentreId>| {
        choices.iter().filter_map(|(&by, &chosen)| Some((to.of(by)?, to.of(chosen)?))).collect()
    };
    told.iter().map(|(zone, choices)| (zone.clone(), of_zone(choices))).collect()
}
