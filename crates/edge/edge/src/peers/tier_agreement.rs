//! Upper tiers that are chosen by measurement: the own choice, the choices of peers, and their
//! periodic review.

use std::sync::PoisonError;

use ::tier_routing::{DataCentreId, Topology, Zone as TiersOf};

use super::{
    heartbeat::{MAX_CHOICES, ZoneUpper},
    table::{Peers, lock, write},
};
use crate::config::Network;

impl Peers {
    pub(super) fn own_choices(&self) -> Vec<ZoneUpper> {
        let zones = self.zones.read().unwrap_or_else(PoisonError::into_inner);
        let chosen = zones.iter().filter_map(|(zone, tiers)| {
            let Topology::Smart(smart) = tiers.topology() else { return None };
            let upper = self.name(smart.choice().basis.nearest()?).to_owned();
            Some(ZoneUpper { zone: zone.clone(), upper })
        });
        chosen.take(MAX_CHOICES).collect()
    }

    pub(super) fn set_peer_choices(&self, centre: DataCentreId, choices: &[ZoneUpper]) {
        let zones = self.zones.read().unwrap_or_else(PoisonError::into_inner);
        let mut peer_choices = lock(&self.peer_choices);
        for of_zone in peer_choices.values_mut() {
            of_zone.remove(&centre);
        }
        for ZoneUpper { zone, upper } in choices {
            if let Some(upper) = self.id(upper).filter(|_| zones.contains_key(zone)) {
                peer_choices.entry(zone.clone()).or_default().insert(centre, upper);
            }
        }
        peer_choices.retain(|_, of_zone| !of_zone.is_empty());
    }

    pub(crate) fn review_choices(&self, network: &Network) {
        let (now, health) = (self.now(), self.health());
        let mut zones = write(&self.zones);
        let (routes, peer_choices) = (self.origin_routes(), lock(&self.peer_choices));
        for zone in &network.zones {
            let Some(Topology::Smart(smart)) = zones.get_mut(&zone.name).map(TiersOf::topology_mut) else {
                continue;
            };
            let Some(measured) = zone.origins.first().and_then(|origin| routes.measured(origin)) else {
                continue;
            };
            let previous = smart.choice().basis;
            let peer_choices = peer_choices.get(&zone.name).into_iter().flatten();
            let peer_choices: Vec<_> =
                peer_choices.filter_map(|(&centre, &upper)| health.is_up(centre).then_some(upper)).collect();
            let choice = smart.review(now, self.data_centres(), (measured, &peer_choices), &health);
            if choice.basis != previous {
                tracing::info!(zone = zone.name, "the upper tier changes: {}", choice.reason);
            }
        }
    }
}
