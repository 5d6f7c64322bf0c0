//! Upper tiers that are chosen by measurement: the own choice, the choices of peers, and their periodic
//! review.

use std::sync::PoisonError;

use ::tiers::{CentreId, Topology, Zone as TiersOf};

use super::{
    hello::{MOST_CHOICES, OfZone},
    view::{Others, lock, write},
};
use crate::network::Network;

impl Others {
    pub(super) fn choices(&self) -> Vec<OfZone> {
        let zones = self.zones.read().unwrap_or_else(PoisonError::into_inner);
        let chosen = zones.iter().filter_map(|(zone, tiers)| {
            let Topology::Smart(smart) = tiers.topology() else { return None };
            let upper = self.name(smart.choice().basis.nearest()?).to_owned();
            Some(OfZone { zone: zone.clone(), upper })
        });
        chosen.take(MOST_CHOICES).collect()
    }

    pub(super) fn take_choices(&self, centre: CentreId, choices: &[OfZone]) {
        let zones = self.zones.read().unwrap_or_else(PoisonError::into_inner);
        let mut told = lock(&self.told);
        for of_zone in told.values_mut() {
            of_zone.remove(&centre);
        }
        for OfZone { zone, upper } in choices {
            if let Some(upper) = self.id(upper).filter(|_| zones.contains_key(zone)) {
                told.entry(zone.clone()).or_default().insert(centre, upper);
            }
        }
        told.retain(|_, of_zone| !of_zone.is_empty());
    }

    pub(crate) fn review(&self, network: &Network) {
        let (now, health) = (self.now(), self.health());
        let mut zones = write(&self.zones);
        let (ways, told) = (self.ways(), lock(&self.told));
        for zone in &network.zones {
            let Some(Topology::Smart(smart)) = zones.get_mut(&zone.name).map(TiersOf::topology_mut) else {
                continue;
            };
            let Some(measured) = zone.origins.first().and_then(|origin| ways.measured(origin)) else {
                continue;
            };
            let before = smart.choice().basis;
            let told = told.get(&zone.name).into_iter().flatten();
            let told: Vec<_> =
                told.filter_map(|(&centre, &upper)| health.is_up(centre).then_some(upper)).collect();
            let choice = smart.review(now, self.centres(), (measured, &told), &health);
            if choice.basis != before {
                tracing::info!(zone = zone.name, "the upper tier changes: {}", choice.reason);
            }
        }
    }
}
