//! A data centre at work: what all its requests share.

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

/// A data centre at work.
pub(crate) struct Edge {
    pub(crate) centre: String,
    network: RwLock<Arc<Network>>,
    pub(crate) store: Store,
    /// What was purged, here and elsewhere.
    pub(crate) bus: Bus,
    /// The stream through which purges travel as well, if there is one.
    pub(crate) on_bus: OnBus,
    pub(crate) flights: Arc<Flights>,
    pub(crate) origins: Origins,
    pub(crate) passing: Passing,
    pub(crate) in_flight: Arc<InFlight>,
    pub(crate) counts: Counts,
    /// Requests of other data centres.
    pub(crate) counts_of_others: Counts,
    others: Linked,
    pub(crate) on_disk: Option<OnDisk>,
    pub(crate) log: Option<Log>,
    /// The key-value store, if there is one.
    pub(crate) kv: Option<Arc<Service>>,
    pub(crate) traces: Arc<Traces>,
    /// Connections of visitors.
    pub(crate) per_address: Arc<PerAddress>,
    /// For bodies that are being compressed.
    pub(crate) coders: Arc<Semaphore>,
    /// Connections to origins, of all cores.
    clients: Mutex<Vec<Client>>,
    /// What each core answers at once; no other core takes its lock, unless everything is to be forgotten.
    hits: Vec<Mutex<Hits>>,
    /// What each core passes on without a look at the store; likewise.
    ways: Vec<Mutex<Ways>>,
    /// Whether another process is taking this one's place. Who purges keeps it from beginning meanwhile.
    is_leaving: RwLock<bool>,
}

impl Edge {
    /// One that works on so many cores.
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

    /// The same behind doors that count connections there.
    pub(crate) fn behind(self, per_address: Arc<PerAddress>) -> Self {
        Self { per_address, ..self }
    }

    /// The same with a key-value store.
    pub(crate) fn with_kv(self, kv: Option<Arc<Service>>) -> Self {
        Self { kv, ..self }
    }

    /// On how many cores it works.
    pub(crate) fn cores(&self) -> usize {
        self.hits.len()
    }

    /// Counts these connections to origins too.
    pub(crate) fn watch(&self, clients: &Clients) {
        let mut all = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend([clients.usual.clone(), clients.switching.clone()]);
    }

    /// How many connections to an origin there are.
    pub(crate) fn connections(&self, origin: &Origin) -> usize {
        let all = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().map(|client| client.connections(origin)).sum()
    }

    pub(crate) fn network(&self) -> Arc<Network> {
        Arc::clone(&self.network.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The other data centres, if there are links to them.
    pub(crate) fn others(&self) -> Option<Arc<Others>> {
        self.others.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The same for whoever asks them as they are then.
    pub(crate) fn linked(&self) -> Linked {
        Arc::clone(&self.others)
    }

    pub(crate) fn put_others(&self, others: Option<Arc<Others>>) {
        *self.others.write().unwrap_or_else(PoisonError::into_inner) = others;
    }

    /// Goes on with another network; requests that are under way end with the old one.
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

    /// What this core answers at once.
    pub(crate) fn hits(&self, core: usize) -> MutexGuard<'_, Hits> {
        self.hits[core].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What this core passes on.
    pub(crate) fn ways(&self, core: usize) -> MutexGuard<'_, Ways> {
        self.ways[core].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes of the largest object that it can keep, in memory or on disk.
    pub(crate) fn largest(&self) -> u64 {
        self.on_disk.as_ref().map_or(0, OnDisk::largest).max(self.store.capacity())
    }

    #[expect(clippy::unused_self, reason = "who serves a request asks the edge for the time")]
    pub(crate) fn now(&self) -> Time {
        clock::now()
    }

    /// Registers a request to an origin, which is sent now.
    pub(crate) fn send(&self, key: &Key) -> Sent {
        self.in_flight.send(key, self.now(), self.store.epoch())
    }

    /// Leaves the disk, and what is purged, to the process that takes this one's place. Blocks.
    pub(crate) fn leave(&self) {
        *self.is_leaving.write().unwrap_or_else(PoisonError::into_inner) = true;
        if let Some(on_disk) = &self.on_disk {
            on_disk.release();
        }
        if let Some(kv) = &self.kv {
            kv.leave();
        }
    }

    /// Whether another process is taking this one's place, which does not begin while this is held.
    pub(crate) fn is_leaving(&self) -> RwLockReadGuard<'_, bool> {
        self.is_leaving.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes on, as no other process does: from memory alone, if there was a disk. Blocks.
    pub(crate) fn stay(&self) {
        if let Some(kv) = &self.kv {
            kv.stay();
        }
        *self.is_leaving.write().unwrap_or_else(PoisonError::into_inner) = false;
    }
}
