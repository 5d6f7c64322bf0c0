//! The state shared by all requests: the store, access control, copies and counters. Also the
//! handover of the store to another process.

use std::{
    fs,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

use http_stack::{
    StatusCode,
    clock::{Clock, wall_ns},
};
use kv::Millis;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    task::spawn_blocking,
    time::{sleep, timeout},
};

use crate::{
    Error,
    access::{Access, Namespace},
    api_error::ApiError,
    config::{Config, Place},
    counts::{Counts, FromOthers, InNetwork, Pair, Status},
    disk_cache::DiskCache,
    replication::{PeerLinks, Replication},
    shared_refresh::SharedRefresh,
    store::{Store, Usage},
    value_cache::{Name, ValueCache},
};

/// A store that is served.
pub struct Service {
    config: Config,
    access: RwLock<Arc<Access>>,
    pub(crate) looks: SharedRefresh,
    /// `None` while another process has the file, after shutdown, or if the store is elsewhere.
    store: RwLock<Option<Store>>,
    /// Another process replaces this one.
    is_left: AtomicBool,
    pub(crate) linked: Option<Arc<Replication>>,
    error: Mutex<Option<String>>,
    pub(crate) copies: ValueCache,
    pub(crate) shelf: Option<DiskCache>,
    pub(crate) counts: Counts,
    clock: Clock,
    #[cfg(test)]
    pub(crate) let_pass_ms: std::sync::atomic::AtomicU64,
    pub(crate) large_writes: Arc<Semaphore>,
    pub(crate) large_reads: Arc<Semaphore>,
}

impl Service {
    /// Opens or creates the store, or the copies of a store in another data centre. Blocks.
    ///
    /// # Errors
    /// Fails if the file is in use, invalid, of a newer format, or cannot be read and written.
    pub fn open(config: Config, access: Access) -> Result<Self, Error> {
        let store = config.place.as_ref().map(|place| Store::open(place, &config, now)).transpose()?;
        let copies = match store {
            Some(_) => ValueCache::new(config.memory / 2),
            None => ValueCache::new(config.memory).of_far_store(),
        };
        let shelf = config.disk.clone().filter(|_| config.place.is_none()).map(DiskCache::open);
        Ok(Self {
            shelf,
            config,
            access: RwLock::new(Arc::new(access)),
            looks: SharedRefresh::default(),
            store: RwLock::new(store),
            is_left: AtomicBool::new(false),
            linked: None,
            error: Mutex::default(),
            copies,
            counts: Counts::default(),
            clock: Clock::start(),
            #[cfg(test)]
            let_pass_ms: 0.into(),
            large_writes: Arc::new(Semaphore::new(LARGE_REQUESTS)),
            large_reads: Arc::new(Semaphore::new(LARGE_REQUESTS)),
        })
    }

    /// Adds the links to the other data centres of the network.
    #[must_use]
    pub fn with_replication(self, links: Arc<dyn PeerLinks>) -> Self {
        let linked = Replication::by(links, self.config.name.clone());
        Self { linked: Some(Arc::new(linked)), ..self }
    }

    /// Replaces the namespaces and tokens of the network's file.
    pub fn allow(&self, access: Access) {
        let mut current = self.access.write().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(access.with_made(current.made().map(<[_]>::to_vec)));
    }

    pub(crate) fn set_api_namespaces(&self, made: Vec<Namespace>) {
        let mut current = self.access.write().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(Access::clone(&current).with_made(Some(made)));
    }

    /// Closes the store for shutdown or handover. Requests in progress get a few seconds to finish.
    pub fn release(&self) {
        {
            let _no_request_starts = self.store.write().unwrap_or_else(PoisonError::into_inner);
            self.is_left.store(true, SeqCst);
        }
        self.copies.close();
        if let Some(shelf) = &self.shelf {
            shelf.close();
        }
        let since = self.elapsed();
        let is_over = || self.elapsed().saturating_sub(since) >= PATIENCE;
        let store = loop {
            let mut store = self.store.write().unwrap_or_else(PoisonError::into_inner);
            if is_over() || !store.as_ref().is_some_and(Store::is_in_use) {
                break store.take();
            }
            drop(store);
            thread::park_timeout(BETWEEN_LOOKS);
        };
        if let Some(store) = store {
            store.close();
        }
    }

    /// The store stays open until the request drops it. `None` if there is no open store here.
    pub(crate) fn store_for_request(&self) -> Option<Store> {
        let store = self.store.read().unwrap_or_else(PoisonError::into_inner);
        store.clone().filter(|_| !self.is_left.load(SeqCst))
    }

    /// Resumes after [`Self::leave`] when no other process takes over. If the file is still locked,
    /// [`Self::sweep`] retries.
    pub fn resume(&self) {
        let Some(place) = &self.config.place else {
            self.is_left.store(false, SeqCst);
            self.shelf.iter().for_each(DiskCache::reopen);
            return self.copies.open();
        };
        let opened = Store::open(place, &self.config, now);
        let mut error = self.error();
        match opened {
            Ok(store) => {
                *error = None;
                self.copies.open();
                let mut current = self.store.write().unwrap_or_else(PoisonError::into_inner);
                *current = Some(store);
                self.is_left.store(false, SeqCst);
            }
            Err(why) => {
                let why = why.to_string();
                if error.as_ref() != Some(&why) {
                    tracing::error!(error = %why, "the store cannot be opened again");
                }
                *error = Some(why);
            }
        }
    }

    /// Runs the background tasks. Never returns.
    pub async fn sweep(self: &Arc<Self>) {
        tokio::join!(
            self.sweep_values(),
            self.hear_store(),
            self.replay_hints(),
            self.compare_all(),
            self.keep_namespaces(),
            self.scrub_store()
        );
    }

    async fn sweep_values(self: &Arc<Self>) {
        loop {
            sleep(BETWEEN_SWEEPS).await;
            if self.error().is_some() {
                let service = Arc::clone(self);
                let _ = spawn_blocking(move || service.resume()).await;
            }
            // The previous process may have released the directory.
            if self.shelf.as_ref().is_some_and(DiskCache::is_closed) && self.is_here() {
                let service = Arc::clone(self);
                let _ = spawn_blocking(move || service.shelf.iter().for_each(DiskCache::reopen)).await;
            }
            while let Some(store) = self.opened() {
                match store.sweep().await {
                    Ok((ended, is_more)) => {
                        self.counts.expired.add(ended.len());
                        for (namespace, key) in ended {
                            self.copies.forget(&Name::of(&namespace, &key));
                        }
                        if !is_more {
                            break;
                        }
                    }
                    Err(error) => {
                        tracing::warn!(%error, "expired values could not be removed");
                        drop(store);
                        // Reopening the file delays readers.
                        sleep(AFTER_FAILURE).await;
                        break;
                    }
                }
            }
        }
    }

    /// Also notifies other data centres of these writes.
    async fn hear_store(self: &Arc<Self>) {
        loop {
            // Do not hold the store here: `leave` waits for all its holders.
            let ears = self.opened().and_then(|store| store.ears());
            let Some(heard) = (match ears {
                Some(ears) => ears.heard().await,
                None => None,
            }) else {
                sleep(BETWEEN_SWEEPS).await;
                continue;
            };
            if heard.is_more {
                self.copies.forget_all();
            }
            for (namespace, key, version) in heard.written {
                self.copies.forget(&Name::of(&namespace, &key));
                if let Some(version) = version {
                    self.tell(&namespace, [(key.as_str(), version)]);
                }
            }
        }
    }

    /// The status for the operator.
    pub fn report(&self) -> Status {
        let place = self.config.place.as_ref();
        let store = self.opened();
        let usage = store.as_ref().map(Store::usage);
        let failed = self.error().clone();
        let closed = || failed.unwrap_or_else(|| "the store is closed".to_owned());
        let held = |number: fn(&Usage) -> u64| place.map(|_| usage.as_ref().map_or(0, number));
        let Counts { reads, hits, writes, lists, refused, expired, .. } = &self.counts;
        Status {
            reads: reads.get(),
            hits: hits.get(),
            of_others: self.linked.as_ref().map(|_| FromOthers {
                regional: self.counts.from_regional.get(),
                upper: self.counts.from_upper.get(),
                store: self.counts.from_store.get(),
            }),
            writes: writes.get(),
            lists: lists.get(),
            refused: refused.get(),
            expired: expired.get(),
            keys: held(|usage| usage.keys),
            bytes: held(|usage| usage.bytes),
            file_bytes: match place {
                Some(Place::File(path)) => Some(fs::metadata(path).map_or(0, |file| file.len())),
                Some(Place::Nats(_)) | None => None,
            },
            integrity: usage.as_ref().and_then(|usage| self.integrity(usage)),
            memory_bytes: self.copies.bytes(),
            disk: self.shelf.as_ref().map(DiskCache::report),
            pair: self.report_pair(usage.as_ref()),
            network: self.linked.as_ref().map(|linked| self.report_network(linked)),
            refused_stream: store.as_ref().and_then(Store::refused),
            error: if self.is_here() { store.and_then(|store| store.trouble()) } else { Some(closed()) },
        }
    }

    fn report_pair(&self, usage: Option<&Usage>) -> Option<Pair> {
        let linked = self.linked.as_ref()?;
        let other = linked.other_store()?;
        let Counts { given, taken, repaired, compared, differed, .. } = &self.counts;
        Some(Pair {
            other: linked.links.name(other),
            is_reachable: linked.links.is_up(other),
            behind: usage.map_or(0, |usage| usage.noted),
            is_filling: usage.is_some_and(|usage| usage.is_filling),
            given: given.get(),
            taken: taken.get(),
            repaired: repaired.get(),
            compared: compared.get(),
            differed: differed.get(),
        })
    }

    fn report_network(&self, linked: &Replication) -> InNetwork {
        let links = &linked.links;
        let Counts {
            refreshes,
            unchanged,
            stood_in,
            passed_on,
            of_others,
            heard,
            to_tell,
            told,
            messages,
            untold,
            asked_both,
            ..
        } = &self.counts;
        InNetwork {
            store: links.name(links.store().unwrap_or_else(|| links.local())),
            refreshes: refreshes.get(),
            unchanged: unchanged.get(),
            stood_in: stood_in.get(),
            passed_on: passed_on.get(),
            asked_by_others: of_others.get(),
            heard: heard.get(),
            to_tell: to_tell.get(),
            told: told.get(),
            messages: messages.get(),
            untold: untold.get(),
            asked_both: asked_both.get(),
        }
    }

    /// In a network with one data centre.
    pub(crate) fn own_name(&self) -> String {
        self.config.name.as_str().to_owned()
    }

    pub(crate) fn access(&self) -> Arc<Access> {
        Arc::clone(&self.access.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn store(&self) -> Result<Store, ApiError> {
        self.opened().ok_or_else(|| match &*self.error() {
            Some(why) => ApiError::new(StatusCode::SERVICE_UNAVAILABLE, why.clone()),
            None => kv_redb::Error::Released.into(),
        })
    }

    pub(crate) fn opened(&self) -> Option<Store> {
        self.store.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) async fn large(&self, places: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, ApiError> {
        match timeout(LONGEST_TURN, Arc::clone(places).acquire_owned()).await {
            Ok(Ok(place)) => Ok(place),
            Ok(Err(_)) | Err(_) => {
                let message = "too many concurrent bulk requests: try again";
                Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, message))
            }
        }
    }

    fn error(&self) -> MutexGuard<'_, Option<String>> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// If the store is elsewhere: this process has not been replaced.
    pub(crate) fn is_here(&self) -> bool {
        match self.config.place {
            Some(_) => self.store_for_request().is_some(),
            None => !self.is_left.load(SeqCst),
        }
    }

    /// Another process may have its file.
    pub(crate) fn has_store(&self) -> bool {
        self.config.place.is_some()
    }

    /// In bytes, from the network's file.
    pub(crate) fn largest(&self) -> u64 {
        self.config.largest
    }

    pub(crate) fn check_length(&self, bytes: u64) -> Result<(), ApiError> {
        if bytes > self.config.largest {
            return Err(ApiError::too_large(bytes, self.config.largest));
        }
        let most = self.opened().and_then(|store| store.most_bytes());
        match most.filter(|&most| bytes > most) {
            Some(most) => Err(kv_nats::Error::TooLarge { bytes, most }.into()),
            None => Ok(()),
        }
    }

    /// Monotonic time since an arbitrary beginning.
    pub(crate) fn elapsed(&self) -> Duration {
        let passed = Duration::from_nanos(self.clock.now()) + BEGINNING;
        #[cfg(test)]
        let passed = passed + Duration::from_millis(self.let_pass_ms.load(SeqCst));
        passed
    }
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.config.place {
            Some(Place::File(path)) => write!(f, "Service of {}", path.display()),
            Some(Place::Nats(address)) => write!(f, "Service of {address}"),
            None => f.write_str("Service of a store elsewhere"),
        }
    }
}

pub(crate) fn now() -> Millis {
    Millis(u64::try_from(wall_ns() / 1_000_000).unwrap_or(0))
}

/// Responses of other data centres may be older than this process.
const BEGINNING: Duration = Duration::from_secs(1_000_000_000);
/// Per direction. A bulk request may have 100 MB, and is in memory twice.
const LARGE_REQUESTS: usize = 2;
const LONGEST_TURN: Duration = Duration::from_secs(10);
/// Shorter than the successor waits for the file.
const PATIENCE: Duration = Duration::from_secs(5);
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);
/// Expirations have a resolution of one second.
const BETWEEN_SWEEPS: Duration = Duration::from_secs(1);
const AFTER_FAILURE: Duration = Duration::from_secs(30);
