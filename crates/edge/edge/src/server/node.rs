//! The state of a data centre that all requests share.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use http_cache::{Key, Time};
use http_stack::{
    Client, Origin,
    server::{Peer, PerIpLimit, TlsHandshakes},
};
use kv_server::Service;
use tokio::sync::Semaphore;

use crate::{
    cache::{
        collapse::CollapseTable,
        hit_for_miss::HitForMiss,
        response_order::{InFlightRequests, SentRequest},
    },
    config::Network,
    fast_path::{hit_table::HitTable, pass_table::PassTable},
    peers::{Peers, PeersHandle},
    purge::{log::PurgeLog, nats::state::NatsState},
    request::rate_limit::RateLimiter,
    response::encoder::ENCODERS_PER_WORKER,
    server::{kv, tls::certificates::Certificates},
    store::{disk::DiskTier, memory::MemoryStore},
    telemetry::{access_log::AccessLog, counters::RequestCounters, traces::Traces, traffic::TrafficMetrics},
    upstream::{connectors::Connectors, origins::OriginPool},
    util::clock,
};

pub(crate) struct Node {
    pub(crate) data_centre: String,
    network: RwLock<Arc<Network>>,
    pub(crate) store: MemoryStore,
    pub(crate) purge_log: PurgeLog,
    pub(crate) nats: NatsState,
    pub(crate) collapse: Arc<CollapseTable>,
    pub(crate) origins: OriginPool,
    pub(crate) hit_for_miss: HitForMiss,
    pub(crate) rate_limiter: RateLimiter,
    pub(crate) in_flight: Arc<InFlightRequests>,
    pub(crate) traffic: Arc<TrafficMetrics>,
    pub(crate) handshakes: Arc<TlsHandshakes>,
    pub(crate) client_counters: RequestCounters,
    pub(crate) peer_counters: RequestCounters,
    peers: PeersHandle,
    pub(crate) disk: Option<DiskTier>,
    pub(crate) access_log: Option<AccessLog>,
    pub(crate) kv: Option<Arc<Service>>,
    pub(crate) traces: Arc<Traces>,
    pub(crate) per_address: Arc<PerIpLimit>,
    pub(crate) certificates: Arc<Certificates>,
    pub(crate) encoder_permits: Arc<Semaphore>,
    origin_clients: Mutex<Vec<Client>>,
    /// Each worker has one. Other workers lock it only to clear it.
    hit_tables: Vec<Mutex<HitTable>>,
    /// Each worker has one, which is locked likewise.
    pass_tables: Vec<Mutex<PassTable>>,
    /// Purges hold a read lock, so that a handover cannot begin meanwhile.
    is_handing_over: RwLock<bool>,
    trusts_proxies: AtomicBool,
}

impl Node {
    pub(crate) fn new(
        centre: String,
        network: Network,
        memory: u64,
        on_disk: Option<DiskTier>,
        log: Option<AccessLog>,
        workers: usize,
    ) -> Self {
        let (traces, traffic) = (Arc::new(Traces::new(workers)), Arc::new(TrafficMetrics::new(workers)));
        traces.set(network.traces.as_ref());
        let trusts_proxies = AtomicBool::new(!network.trusted_proxies.is_empty());
        let origins = OriginPool::new(&traffic);
        origins.pools.configure(&network);
        let network = RwLock::new(Arc::new(network));
        let hits = (0..workers).map(|_| Mutex::new(HitTable::new(memory, workers))).collect();
        let pass_table = (0..workers).map(|_| Mutex::default()).collect();
        let store = MemoryStore::new(memory).with_disk(on_disk.as_ref().map(DiskTier::store));
        Self {
            data_centre: centre,
            network,
            store,
            purge_log: PurgeLog::new(),
            nats: NatsState::default(),
            collapse: Arc::default(),
            origins,
            traffic,
            handshakes: Arc::default(),
            hit_for_miss: HitForMiss::default(),
            rate_limiter: RateLimiter::default(),
            in_flight: Arc::default(),
            client_counters: RequestCounters::default(),
            peer_counters: RequestCounters::default(),
            peers: PeersHandle::default(),
            disk: on_disk,
            access_log: log,
            kv: None,
            traces,
            per_address: PerIpLimit::at_most(usize::MAX),
            certificates: Arc::default(),
            origin_clients: Mutex::default(),
            encoder_permits: Arc::new(Semaphore::new(workers * ENCODERS_PER_WORKER)),
            hit_tables: hits,
            pass_tables: pass_table,
            is_handing_over: RwLock::default(),
            trusts_proxies,
        }
    }

    pub(crate) fn with_per_address(self, per_address: Arc<PerIpLimit>) -> Self {
        Self { per_address, ..self }
    }

    pub(crate) fn with_handshakes(self, handshakes: Arc<TlsHandshakes>) -> Self {
        Self { handshakes, ..self }
    }

    pub(crate) fn with_certificates(self, certificates: Arc<Certificates>) -> Self {
        Self { certificates, ..self }
    }

    pub(crate) fn with_kv(self, kv: Option<Arc<Service>>) -> Self {
        Self { kv, ..self }
    }

    pub(crate) fn workers(&self) -> usize {
        self.hit_tables.len()
    }

    pub(crate) fn register_clients(&self, clients: &Connectors) {
        let mut all = self.origin_clients.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend([clients.requests.clone(), clients.upgrades.clone()]);
    }

    pub(crate) fn connections(&self, origin: &Origin) -> usize {
        let all = self.origin_clients.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().map(|client| client.connections(origin)).sum()
    }

    pub(crate) fn network(&self) -> Arc<Network> {
        Arc::clone(&self.network.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether a trusted proxy opened the connection: its requests name the client.
    pub(crate) fn is_trusted_proxy(&self, peer: Peer) -> bool {
        self.trusts_proxies.load(Relaxed) && self.network().trusted_proxies.contains(peer.address.ip())
    }

    pub(crate) fn peers(&self) -> Option<Arc<Peers>> {
        self.peers.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn peers_handle(&self) -> PeersHandle {
        Arc::clone(&self.peers)
    }

    pub(crate) fn set_peers(&self, peers: Option<Arc<Peers>>) {
        *self.peers.write().unwrap_or_else(PoisonError::into_inner) = peers;
    }

    pub(crate) fn replace_network(&self, network: Network) {
        if let Ok(centre) = network.data_centre(&self.data_centre) {
            self.per_address.allow(centre.connections_per_address);
        }
        self.traces.set(network.traces.as_ref());
        if let Some(kv) = &self.kv {
            kv.allow(kv::access(&network));
        }
        let trusts_proxies = !network.trusted_proxies.is_empty();
        self.trusts_proxies.fetch_or(trusts_proxies, Relaxed);
        self.origins.pools.configure(&network);
        *self.network.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(network);
        self.trusts_proxies.store(trusts_proxies, Relaxed);
        for worker in 0..self.hit_tables.len() {
            self.hit_table(worker).clear();
            self.pass_table(worker).clear();
        }
    }

    pub(crate) fn hit_table(&self, worker: usize) -> MutexGuard<'_, HitTable> {
        self.hit_tables[worker].lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn pass_table(&self, worker: usize) -> MutexGuard<'_, PassTable> {
        self.pass_tables[worker].lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn max_object_size(&self) -> u64 {
        self.disk.as_ref().map_or(0, DiskTier::largest).max(self.store.capacity())
    }

    #[expect(clippy::unused_self, reason = "who serves a request asks the edge for the time")]
    pub(crate) fn now(&self) -> Time {
        clock::now()
    }

    /// Must be called before the request is sent.
    pub(crate) fn register_request(&self, key: &Key) -> SentRequest {
        self.in_flight.send(key, self.now(), self.store.epoch())
    }

    /// Releases the disk and rejects purges from now on. Blocks.
    pub(crate) fn hand_over(&self) {
        *self.is_handing_over.write().unwrap_or_else(PoisonError::into_inner) = true;
        if let Some(on_disk) = &self.disk {
            on_disk.release();
        }
        if let Some(kv) = &self.kv {
            kv.release();
        }
    }

    /// A handover cannot start while the guard is held.
    pub(crate) fn is_handing_over(&self) -> RwLockReadGuard<'_, bool> {
        self.is_handing_over.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Continues without the disk if it was released. Blocks.
    pub(crate) fn cancel_handover(&self) {
        if let Some(kv) = &self.kv {
            kv.resume();
        }
        *self.is_handing_over.write().unwrap_or_else(PoisonError::into_inner) = false;
    }
}
