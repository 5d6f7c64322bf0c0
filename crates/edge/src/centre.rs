//! A data centre at work: what all its requests share.

use std::sync::{Arc, PoisonError, RwLock};

use cache::{
    Time,
    purge::{Depth, Purge},
};

use crate::{counts::Counts, flights::Flights, network::Network, origins::Origins, store::Store};

/// A data centre at work.
pub(crate) struct Edge {
    pub(crate) centre: String,
    network: RwLock<Arc<Network>>,
    pub(crate) store: Store,
    pub(crate) flights: Arc<Flights>,
    pub(crate) origins: Origins,
    pub(crate) counts: Counts,
}

impl Edge {
    pub(crate) fn new(centre: String, network: Network, memory: u64, origins: Origins) -> Self {
        let network = RwLock::new(Arc::new(network));
        let (store, flights, counts) = (Store::new(memory), Arc::default(), Counts::default());
        Self { centre, network, store, flights, origins, counts }
    }

    pub(crate) fn network(&self) -> Arc<Network> {
        Arc::clone(&self.network.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Goes on with another network; requests that are under way end with the old one.
    pub(crate) fn replace(&self, network: Network) {
        *self.network.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(network);
    }

    #[expect(clippy::unused_self, reason = "who serves a request asks the edge for the time")]
    pub(crate) fn now(&self) -> Time {
        Time::from_millis(u64::try_from(http::clock::wall_ns() / 1_000_000).unwrap_or(0))
    }

    /// Purges, and lets nobody join a fetch that may bring what was purged. Returns the epoch, and how many objects it found.
    pub(crate) fn purge(&self, zone: &str, purges: Vec<Purge>, depth: Depth) -> (u64, usize) {
        let purged = self.store.purge(zone, purges, depth, self.now());
        self.flights.close();
        purged
    }
}
