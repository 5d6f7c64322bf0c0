//! The pools of all zones that need one, and their health checks.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use http_stack::Client;
use tokio::{runtime::Handle, task::AbortHandle};

use super::{health_checks, zone_pool::ZonePool};
use crate::{
    admin::api::PoolStatus,
    config::{Network, OriginUrl, Zone},
};

/// A zone has a pool unless its origins are a plain list in order of preference.
#[derive(Default)]
pub(crate) struct Pools {
    pools: RwLock<HashMap<String, Arc<ZonePool>>>,
    checker: Mutex<Option<Checker>>,
}

struct Checker {
    client: Client,
    runtime: Handle,
    tasks: Vec<AbortHandle>,
}

impl Pools {
    /// Keeps the state of origins that remain.
    pub(crate) fn configure(&self, network: &Network) {
        let mut pools = self.pools.write().unwrap_or_else(PoisonError::into_inner);
        let zones = network.zones.iter().filter(|zone| zone.balancing.needs_pool());
        let next = zones.map(|zone| {
            let earlier = pools.get(&zone.name);
            let pool = match earlier.filter(|earlier| earlier.is_of(zone)) {
                Some(unchanged) => Arc::clone(unchanged),
                None => Arc::new(ZonePool::new(zone, earlier.map(Arc::as_ref))),
            };
            (zone.name.clone(), pool)
        });
        *pools = next.collect();
        drop(pools);
        self.restart_checks(network);
    }

    /// From now on origins are checked in the current runtime.
    pub(crate) fn start_checks(&self, client: Client, network: &Network) {
        let checker = Checker { client, runtime: Handle::current(), tasks: Vec::new() };
        *self.checker.lock().unwrap_or_else(PoisonError::into_inner) = Some(checker);
        self.restart_checks(network);
    }

    fn restart_checks(&self, network: &Network) {
        let mut checker = self.checker.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(checker) = checker.as_mut() else { return };
        checker.tasks.drain(..).for_each(|task| task.abort());
        for zone in &network.zones {
            let Some(pool) = self.of(zone) else { continue };
            for check in health_checks::of_zone(&pool, zone, &checker.client) {
                checker.tasks.push(checker.runtime.spawn(check).abort_handle());
            }
        }
    }

    /// `None` for a plain list, and for a request from before a reload that changed the zone.
    pub(crate) fn of(&self, zone: &Zone) -> Option<Arc<ZonePool>> {
        if !zone.balancing.needs_pool() {
            return None;
        }
        let pools = self.pools.read().unwrap_or_else(PoisonError::into_inner);
        pools.get(&zone.name).filter(|pool| pool.is_of(zone)).cloned()
    }

    /// Whether the origin is neither down nor ejected in this zone.
    pub(crate) fn is_up(&self, zone: &Zone, origin: &OriginUrl) -> bool {
        self.of(zone).is_none_or(|pool| {
            let number = pool.origins().iter().position(|own| own == origin);
            number.is_none_or(|number| pool.is_up(number))
        })
    }

    pub(crate) fn report(&self) -> Vec<PoolStatus> {
        let pools = self.pools.read().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> = pools.values().map(|pool| pool.report()).collect();
        all.sort_by(|a, b| a.zone.cmp(&b.zone));
        all
    }
}

impl Drop for Checker {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}
