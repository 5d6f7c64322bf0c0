//! Routing: the edges to an address, past the routers of cities.
//!
//! Pure: input is logical time, output are paths. [`edges`] applies the effects of edges to packets.
//!
//! ```text
//!  host ──line──> router of its city ──link──> router ──link──> router ──line──> host
//! ```

pub(crate) mod catchment;
pub(crate) mod edge;
pub(crate) mod edges;
pub(crate) mod faults;
pub(crate) mod path;

use std::{collections::HashMap, net::IpAddr, sync::Arc, time::Duration};

use world::{CityId, Effect, Layout};

use self::{
    catchment::{Catchments, Serves},
    faults::Faults,
    path::{Path, Paths, Source, Target},
};

pub(crate) struct Router {
    layout: Arc<Layout>,
    addresses: HashMap<IpAddr, Target>,
    paths: Paths,
    catchments: Catchments,
    faults: Faults,
}

impl Router {
    pub(crate) fn new(layout: Arc<Layout>) -> Self {
        let ports = layout.addresses().into_iter().map(|(address, port)| (address, Target::Port(port)));
        let routers = layout.cities.iter().enumerate().flat_map(|(city, described)| {
            [IpAddr::V4(described.v4), IpAddr::V6(described.v6)]
                .map(|address| (address, Target::Router(city)))
        });
        Self {
            addresses: ports.chain(routers).collect(),
            paths: Paths::default(),
            catchments: Catchments::new(&layout),
            faults: Faults::default(),
            layout,
        }
    }

    pub(crate) fn path(&mut self, now: Duration, from: Source, to: IpAddr, ttl: u8) -> Option<Arc<Path>> {
        let city = from.city(&self.layout);
        let target = match self.addresses.get(&to) {
            Some(&target) => target,
            None => match self.catchments.serves(now, to, city)? {
                // A packet to an unreachable site is dropped where the path is down.
                Serves::Site(host) | Serves::CutOff(host) => {
                    Target::Port(self.layout.hosts[host].ports.start)
                }
                Serves::Blackhole(host) => Target::Blackhole(self.layout.hosts[host].city),
                Serves::Loop(host) => Target::Loop(self.layout.hosts[host].city),
                Serves::Nobody => Target::Nowhere(city),
            },
        };
        Some(self.paths.find(&self.layout, &self.faults, from, target, ttl))
    }

    pub(crate) fn set_faults(&mut self, now: Duration, active: &[Effect]) {
        self.faults = Faults::new(&self.layout, active);
        self.paths.forget();
        self.catchments.announce(now, &self.layout, &self.faults);
    }

    pub(crate) fn faults(&self) -> &Faults {
        &self.faults
    }

    /// The address from which the router replies to a packet to or from `peer`.
    pub(crate) fn router_address(&self, city: CityId, peer: IpAddr) -> IpAddr {
        let city = &self.layout.cities[city];
        if peer.is_ipv4() { city.v4.into() } else { city.v6.into() }
    }
}

#[cfg(test)]
mod tests;
