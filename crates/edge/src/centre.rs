//! The state of a data centre that all requests share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use cache::{Key, Time};
use http::{Client, Origin, server::PerAddress};
use tokio::sync::Semaphore;
use values::Service;

use crate::{
    bus::Bus,
    clients::Clients,
    clock,
    coder::CODERS,
    counts::Counts,
    flights::Flights,
    hits::Hits,
    in_flight::{InFlight, Sent},
    kv,
    log::Log,
    nats::talk::OnBus,
    network::Network,
    on_disk::OnDisk,
    origins::Origins,
    others::{Linked, Others},
    passing::Passing,
    store::Store,
    traces::Traces,
    ways::Ways,
};

pub(crate) struct Edge {
    pub(crate) centre: String,
    network: RwLock<Arc<Network>>,
    pub(crate) store: Store,
    pub(crate) bus: Bus,
    /// The session with the purge stream, if one is configured.
    pub(crate) on_bus: OnBus,
    pub(crate) flights: Arc<Flights>,
    pub(crate) origins: Origins,
    pub(crate) passing: Passing,
    pub(crate) in_flight: Arc<InFlight>,
    pub(crate) counts: Counts,
    /// Counters for requests of peers.
    pub(crate) counts_of_others: Counts,
    others: Linked,
    pub(crate) on_disk: Option<OnDisk>,
    pub(crate) log: Option<Log>,
    pub(crate) kv: Option<Arc<Service>>,
    pub(crate) traces: Arc<Traces>,
    /// Counts user connections per address.
    pub(crate) per_address: Arc<PerAddress>,
    /// Permits for compression tasks.
    pub(crate) coders: Arc<Semaphore>,
    /// Clients of all workers, to count connections to origins.
    clients: Mutex<Vec<Client>>,
    /// For each worker, the index of hits that it serves synchronously. Other workers lock it only to clear
    /// it.
    hits: Vec<Mutex<Hits>>,
    /// For each worker, requests that it relays without a cache lookup. Locked likewise.
    ways: Vec<Mutex<Ways>>,
    /// Whether a handover to another process is in progress. Purges hold a read lock, so that it cannot begin
    /// meanwhile.
    is_leaving: RwLock<bool>,
}

impl Edge {
    pub(crate) fn new(
        centre: String,
        network: Network,
        memory: u64,
        on_disk: Option<OnDisk>,
        log: Option<Log>,
        cores: usize,
    ) -> Self {
        let traces = Arc::new(Traces::new(cores));
        traces.set(network.traces.as_ref());
        let network = RwLock::new(Arc::new(network));
        let hits = (0..cores).map(|_| Mutex::new(Hits::new(memory, cores))).collect();
        let ways = (0..cores).map(|_| Mutex::default()).collect();
        let store = Store::new(memory).above(on_disk.as_ref().map(OnDisk::store));
        Self {
            centre,
            network,
            store,
            bus: Bus::new(),
            on_bus: OnBus::default(),
            flights: Arc::default(),
            origins: Origins::default(),
            passing: Passing::default(),
            in_flight: Arc::default(),
            counts: Counts::default(),
            counts_of_others: Counts::default(),
            others: Linked::default(),
            on_disk,
            log,
            kv: None,
            traces,
            per_address: PerAddress::at_most(usize::MAX),
            clients: Mutex::default(),
            coders: Arc::new(Semaphore::new(cores * CODERS)),
            hits,
            ways,
            is_leaving: RwLock::default(),
        }
    }

    pub(crate) fn behind(self, per_address: Arc<PerAddress>) -> Self {
        Self { per_address, ..self }
    }

    pub(crate) fn with_kv(self, kv: Option<Arc<Service>>) -> Self {
        Self { kv, ..self }
    }

    pub(crate) fn cores(&self) -> usize {
        self.hits.len()
    }

    /// Includes these clients in the count of connections to origins.
    pub(crate) fn watch(&self, clients: &Clients) {
        let mut all = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend([clients.usual.clone(), clients.switching.clone()]);
    }

    pub(crate) fn connections(&self, origin: &Origin) -> usize {
        let all = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().map(|client| client.connections(origin)).sum()
    }

    pub(crate) fn network(&self) -> Arc<Network> {
        Arc::clone(&self.network.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The peers, if this data centre has links.
    pub(crate) fn others(&self) -> Option<Arc<Others>> {
        self.others.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A shared handle through which the current peers can be read later.
    pub(crate) fn linked(&self) -> Linked {
        Arc::clone(&self.others)
    }

    pub(crate) fn put_others(&self, others: Option<Arc<Others>>) {
        *self.others.write().unwrap_or_else(PoisonError::into_inner) = others;
    }

    /// Replaces the network; requests in flight finish with the old one.
    pub(crate) fn replace(&self, network: Network) {
        if let Ok(centre) = network.data_centre(&self.centre) {
            self.per_address.allow(centre.connections_per_address);
        }
        self.traces.set(network.traces.as_ref());
        if let Some(kv) = &self.kv {
            kv.allow(kv::access(&network));
        }
        *self.network.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(network);
        for core in 0..self.hits.len() {
            self.hits(core).clear();
            self.ways(core).clear();
        }
    }

    pub(crate) fn hits(&self, core: usize) -> MutexGuard<'_, Hits> {
        self.hits[core].lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn ways(&self, core: usize) -> MutexGuard<'_, Ways> {
        self.ways[core].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The maximum size of a stored object in memory or on disk, bytes.
    pub(crate) fn largest(&self) -> u64 {
        self.on_disk.as_ref().map_or(0, OnDisk::largest).max(self.store.capacity())
    }

    #[expect(clippy::unused_self, reason = "who serves a request asks the edge for the time")]
    pub(crate) fn now(&self) -> Time {
        clock::now()
    }

    /// Registers a request to an origin that is about to be sent.
    pub(crate) fn send(&self, key: &Key) -> Sent {
        self.in_flight.send(key, self.now(), self.store.epoch())
    }

    /// Releases the disk and rejects purges from now on, for a handover. Blocks.
    pub(crate) fn leave(&self) {
        *self.is_leaving.write().unwrap_or_else(PoisonError::into_inner) = true;
        if let Some(on_disk) = &self.on_disk {
            on_disk.release();
        }
        if let Some(kv) = &self.kv {
            kv.leave();
        }
    }

    /// Whether a handover is in progress. It cannot start while the guard is held.
    pub(crate) fn is_leaving(&self) -> RwLockReadGuard<'_, bool> {
        self.is_leaving.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Continues after a failed handover, without the disk if there was one. Blocks.
    pub(crate) fn stay(&self) {
        if let Some(kv) = &self.kv {
            kv.stay();
        }
        *self.is_leaving.write().unwrap_or_else(PoisonError::into_inner) = false;
    }
}
