//! The memory store: lookup by key and variant, eviction, and purges.
//!
//! It has one copy of each object. One lock protects the index; it is not held while a body is read
//! or written.

use std::{
    collections::{BTreeSet, HashMap, hash_map::Entry},
    hash::{DefaultHasher, Hash, Hasher},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{
            AtomicU64,
            Ordering::{Acquire, Release},
        },
    },
    time::Duration,
};

use http_cache::{
    Eviction, Key, Stored, Time, U64Hasher,
    purge::{Depth, Log, Purge, Subject},
};
use http_stack::{HeaderMap, HeaderName};

use crate::{
    body::{shared::SharedBody, sparse::SparseBody},
    fast_path::prerendered::PrerenderedSet,
    purge::record::PurgeRecord,
    store::purge_index::PurgeIndex,
    util::compact_headers::FIELD,
};

#[derive(Debug, Clone)]
pub(crate) struct Object {
    pub(crate) key: Key,
    pub(crate) subject: Subject,
    pub(crate) stored: Stored,
    pub(crate) body: Arc<SharedBody>,
    /// The stored ranges of an incomplete body; `body` is then empty and has no readers.
    pub(crate) parts: Option<Arc<SparseBody>>,
    pub(crate) sent_epoch: u64,
    /// In the order of requests; 0 if the object was read from the disk.
    pub(crate) request_number: u64,
    pub(crate) prerendered: PrerenderedSet,
}

#[derive(Debug)]
pub(crate) struct EntryLease {
    pub(crate) version: u64,
    pub(crate) names: Vec<HeaderName>,
}

#[derive(Debug)]
pub(crate) enum Lookup {
    Object(Arc<Object>),
    Partial(Arc<Object>, Arc<SparseBody>),
    OtherVariant,
    Absent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoreUsage {
    pub(crate) bytes: u64,
    pub(crate) objects: usize,
    pub(crate) evicted: u64,
}

#[derive(Debug)]
pub(crate) struct MemoryStore {
    inner: Mutex<Inner>,
    capacity: u64,
    /// The epoch of the newest purge, readable without a lock.
    epoch: AtomicU64,
    /// The disk store below. An update of an object here invalidates its short-body handles.
    disk: Option<::segment_store::Store>,
}

#[derive(Debug)]
struct Inner {
    resources: HashMap<Key, Vec<Arc<Object>>, U64Hasher>,
    keys: HashMap<u64, Key, U64Hasher>,
    names: PurgeIndex,
    eviction: Eviction,
    evicted: u64,
    log: Log,
    /// Counts uses, to order the variants of a resource by last use.
    uses: u64,
}

impl MemoryStore {
    pub(crate) fn new(bytes: u64) -> Self {
        let (resources, keys) = (HashMap::default(), HashMap::default());
        let (names, eviction, log) = (PurgeIndex::default(), Eviction::new(bytes), Log::default());
        let inner = Mutex::new(Inner { resources, keys, names, eviction, evicted: 0, log, uses: 0 });
        Self { inner, capacity: bytes, epoch: AtomicU64::new(0), disk: None }
    }

    pub(crate) fn with_disk(self, disk: Option<::segment_store::Store>) -> Self {
        Self { disk, ..self }
    }

    pub(crate) fn find(&self, key: &Key, request: &HeaderMap) -> Lookup {
        let mut inner = self.lock();
        let Some(variants) = inner.resources.get(key) else { return Lookup::Absent };
        match variants.iter().find(|object| object.stored.selection.matches(request)).cloned() {
            // The disk may have the body elsewhere, or have dropped it.
            Some(object) if object.body.is_broken() => {
                inner.eviction.remove(object.number());
                inner.forget(object.number());
                Lookup::Absent
            }
            Some(object) => {
                inner.record_use(&object);
                match object.parts.clone() {
                    Some(parts) => Lookup::Partial(object, parts),
                    None => Lookup::Object(object),
                }
            }
            None => Lookup::OtherVariant,
        }
    }

    pub(crate) fn touch(&self, object: &Object) {
        self.lock().record_use(object);
    }

    pub(crate) fn lease(&self, object: &Arc<Object>) -> Option<EntryLease> {
        let inner = self.lock();
        let variants = inner.resources.get(&object.key)?;
        let stands = variants.iter().any(|other| Arc::ptr_eq(other, object));
        let names = variants.iter().flat_map(|other| other.stored.selection.names()).cloned();
        stands.then(|| EntryLease { version: object.prerendered.version(), names: names.collect() })
    }

    pub(crate) fn vary_names(&self, key: &Key, request: &HeaderMap) -> Option<Vec<HeaderName>> {
        let inner = self.lock();
        let Some(variants) = inner.resources.get(key) else { return Some(Vec::new()) };
        let is_here = variants.iter().any(|object| object.stored.selection.matches(request));
        let names = variants.iter().flat_map(|object| object.stored.selection.names()).cloned();
        (!is_here).then(|| names.collect())
    }

    /// Whether the object would evict another one and is not requested often enough. Returns the
    /// current epoch if so: no purge up to it matches the object.
    pub(crate) fn should_leave_on_disk(&self, object: &Object) -> Option<u64> {
        let mut inner = self.lock();
        let is_purged = inner.log.since(object.sent_epoch, &object.subject).is_some();
        let stays_out = !is_purged && !inner.eviction.is_worth(object.number(), object.bytes());
        stays_out.then(|| inner.log.epoch())
    }

    pub(crate) fn should_promote(&self, number: u64, bytes: u64) -> bool {
        self.lock().eviction.is_worth(number, bytes)
    }

    /// Advances `epoch` to the newest purge. Takes no lock if no purge has occurred since.
    pub(crate) fn is_unpurged(&self, epoch: &mut u64, subject: &Subject) -> bool {
        if self.epoch.load(Acquire) == *epoch {
            return true;
        }
        let inner = self.lock();
        let is_unpurged = inner.log.since(*epoch, subject).is_none();
        *epoch = inner.log.epoch();
        is_unpurged
    }

    pub(crate) fn is_purged(&self, object: &Object) -> bool {
        self.lock().log.since(object.sent_epoch, &object.subject) == Some(Depth::Hard)
    }

    /// Replaces the variants that match the same `request`. An object that was purged since its
    /// request was sent is marked stale (soft purge) or not added (hard purge).
    pub(crate) fn add(&self, mut object: Object, request: &HeaderMap, now: Time) -> Arc<Object> {
        let mut inner = self.lock();
        let purged = inner.log.since(object.sent_epoch, &object.subject);
        if purged == Some(Depth::Soft) {
            object.stored.terms.outdated = Some(now);
        }
        let object = Arc::new(object);
        if purged == Some(Depth::Hard) {
            return object;
        }
        inner.keys.insert(object.number(), object.key.clone());
        let variants = inner.resources.entry(object.key.clone()).or_default();
        variants.iter().for_each(|other| other.prerendered.invalidate());
        let is_replaced = |other: &mut Arc<Object>| {
            other.stored.selection.matches(request) || other.number() == object.number()
        };
        let mut replaced: Vec<_> = variants.extract_if(.., is_replaced).collect();
        if variants.len() >= MAX_VARIANTS {
            let last_uses = variants.iter().map(|other| other.prerendered.last_use()).enumerate();
            let oldest = last_uses.min_by_key(|(_, last_use)| *last_use);
            replaced.extend(oldest.map(|(place, _)| variants.remove(place)));
        }
        variants.insert(0, Arc::clone(&object));
        inner.uses += 1;
        object.prerendered.record_use(inner.uses);
        for other in &replaced {
            inner.names.remove(other.number(), &other.subject);
        }
        inner.names.add(object.number(), &object.subject);
        let is_same_body = replaced.iter().any(|other| Arc::ptr_eq(&other.body, &object.body));
        for other in replaced.iter().filter(|other| other.number() != object.number()) {
            inner.keys.remove(&other.number());
            inner.eviction.remove(other.number());
        }
        if !is_same_body {
            inner.eviction.remove(object.number());
        }
        self.mark_disk_outdated(&object.key);
        drop(inner);
        object
    }

    pub(crate) fn settle(&self, object: &Object) {
        let mut inner = self.lock();
        if inner.has(object) {
            let (number, bytes) = (object.number(), object.bytes());
            for evicted in inner.eviction.insert(number, bytes) {
                inner.evicted += 1;
                inner.forget(evicted);
            }
        }
    }

    pub(crate) fn recount(&self, object: &Object) -> bool {
        let mut inner = self.lock();
        if inner.has(object) {
            for evicted in inner.eviction.resize(object.number(), object.bytes()) {
                inner.evicted += 1;
                inner.forget(evicted);
            }
        }
        inner.has(object)
    }

    pub(crate) fn complete(&self, object: &Object, body: Arc<SharedBody>) -> Option<Arc<Object>> {
        let mut inner = self.lock();
        let variants = inner.resources.get_mut(&object.key)?;
        let standing = variants.iter_mut().find(|other| Arc::ptr_eq(&other.body, &object.body))?;
        standing.prerendered.invalidate();
        *standing = Arc::new(Object { body, parts: None, ..Object::clone(standing) });
        let whole = Arc::clone(standing);
        self.mark_disk_outdated(&whole.key);
        drop(inner);
        self.recount(&whole);
        Some(whole)
    }

    pub(crate) fn remove(&self, object: &Object) {
        let mut inner = self.lock();
        if inner.has(object) {
            inner.eviction.remove(object.number());
            inner.forget(object.number());
        }
    }

    pub(crate) fn whole(&self, key: &Key, request: &HeaderMap) -> Option<Arc<Object>> {
        let inner = self.lock();
        let mut variants = inner.resources.get(key)?.iter();
        let is_whole = |object: &&Arc<Object>| object.parts.is_none() && object.body.length().is_some();
        variants.find(|object| object.stored.selection.matches(request)).filter(is_whole).cloned()
    }

    /// Restores the object that an incomplete response replaced, unless another object matches now.
    pub(crate) fn restore(&self, broken: &Object, previous: &Object, request: &HeaderMap, now: Time) {
        self.remove(broken);
        let is_free = {
            let inner = self.lock();
            let variants = inner.resources.get(&previous.key);
            variants.is_none_or(|variants| {
                variants.iter().all(|object| !object.stored.selection.matches(request))
            })
        };
        if is_free {
            let restored = self.add(Object::clone(previous), request, now);
            self.settle(&restored);
        }
    }

    pub(crate) fn discard(&self, key: &Key, request: &HeaderMap, number: u64) {
        let mut inner = self.lock();
        let Some(variants) = inner.resources.get(key) else { return };
        let is_ended = |object: &&Arc<Object>| {
            object.request_number <= number && object.stored.selection.matches(request)
        };
        let ended = variants.iter().filter(is_ended);
        let numbers: Vec<_> = ended.map(|object| object.number()).collect();
        for number in numbers {
            inner.eviction.remove(number);
            inner.forget(number);
        }
    }

    pub(crate) fn resume(&self, records: Vec<PurgeRecord>) {
        let mut inner = self.lock();
        for PurgeRecord { epoch, zone, purge, depth, .. } in records {
            inner.log.again(epoch, &zone, purge, depth);
        }
        self.epoch.store(inner.log.epoch(), Release);
    }

    pub(crate) fn purge(&self, zone: &str, purges: Vec<Purge>, depth: Depth, now: Time) -> (u64, usize) {
        let mut inner = self.lock();
        let purged = inner.purge(zone, purges, depth, now);
        self.epoch.store(purged.0, Release);
        purged
    }

    /// `began` is the epoch of the invalidating request. The returned epochs are that from which
    /// the response counts, so that it does not purge itself, and that of the last purge.
    pub(crate) fn invalidate(
        &self,
        subject: &Subject,
        began: u64,
        purges: Vec<Purge>,
        now: Time,
    ) -> (u64, u64) {
        let mut inner = self.lock();
        let is_purged = inner.log.since(began, subject).is_some();
        let (epoch, _) = inner.purge(&subject.zone, purges, Depth::Hard, now);
        self.epoch.store(epoch, Release);
        (if is_purged { began } else { epoch }, epoch)
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Acquire)
    }

    pub(crate) fn usage(&self) -> StoreUsage {
        let inner = self.lock();
        StoreUsage { bytes: inner.eviction.bytes(), objects: inner.keys.len(), evicted: inner.evicted }
    }

    pub(crate) fn capacity(&self) -> u64 {
        self.capacity
    }

    pub(crate) fn share(&self) -> u64 {
        (self.capacity() / SHARE_DIVISOR).min(MAX_SHARE)
    }

    fn mark_disk_outdated(&self, key: &Key) {
        if let Some(disk) = &self.disk {
            disk.outdate(key.as_str().as_bytes());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn purge(&mut self, zone: &str, purges: Vec<Purge>, depth: Depth, now: Time) -> (u64, usize) {
        let purges: Vec<_> = purges.into_iter().map(Purge::normal).collect();
        let is_meant = |object: &Arc<Object>| {
            let candidate = object.subject.candidate();
            purges.iter().any(|purge| candidate.is_meant(zone, purge))
        };
        let (mut removed, mut found) = (Vec::new(), 0);
        for number in self.candidates(&purges) {
            let Some(variants) = self.keys.get(&number).and_then(|key| self.resources.get_mut(key)) else {
                continue;
            };
            let mut variants = variants.iter_mut();
            let object = variants.find(|object| object.number() == number && is_meant(object));
            let Some(object) = object else { continue };
            found += 1;
            object.prerendered.invalidate();
            match depth {
                Depth::Hard => removed.push(object.number()),
                Depth::Soft => {
                    let outdated = object.stored.terms.outdated.map_or(now, |earlier| earlier.min(now));
                    let mut stale = Object::clone(object);
                    stale.stored.terms.outdated = Some(outdated);
                    *object = Arc::new(stale);
                }
            }
        }
        for number in removed {
            self.eviction.remove(number);
            self.forget(number);
        }
        for purge in purges {
            self.log.add(zone, purge, depth);
        }
        (self.log.epoch(), found)
    }

    fn candidates(&self, purges: &[Purge]) -> BTreeSet<u64> {
        let found: Option<Vec<_>> = purges.iter().map(|purge| self.names.find(purge)).collect();
        match found {
            Some(found) => found.into_iter().flatten().collect(),
            None => self.keys.keys().copied().collect(),
        }
    }

    fn record_use(&mut self, object: &Object) {
        self.eviction.hit(object.number());
        self.uses += 1;
        object.prerendered.record_use(self.uses);
    }

    fn has(&self, object: &Object) -> bool {
        let variants = self.resources.get(&object.key);
        variants.is_some_and(|variants| variants.iter().any(|other| Arc::ptr_eq(&other.body, &object.body)))
    }

    fn forget(&mut self, number: u64) {
        let Some(key) = self.keys.remove(&number) else { return };
        if let Entry::Occupied(mut variants) = self.resources.entry(key) {
            for object in variants.get_mut().extract_if(.., |object| object.number() == number) {
                object.prerendered.invalidate();
                self.names.remove(number, &object.subject);
            }
            if variants.get().is_empty() {
                variants.remove();
            }
        }
    }
}

impl Object {
    /// The same for every response of a key and a variant, so that eviction recognises an object
    /// that returns.
    pub(crate) fn number(&self) -> u64 {
        *self.prerendered.number.get_or_init(|| {
            let mut hasher = DefaultHasher::new();
            self.key.as_str().hash(&mut hasher);
            self.stored.selection.hash(&mut hasher);
            hasher.finish()
        })
    }

    pub(crate) fn bytes(&self) -> u64 {
        let headers = &self.stored.headers;
        let text: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
        let header = text + headers.capacity() * FIELD;
        let body = self.parts.as_ref().map_or_else(|| self.body.memory_bytes(), |parts| parts.memory());
        let names = self.subject.bytes() + self.stored.selection.bytes();
        body + self.body.encoded_bytes()
            + (header + 2 * self.key.as_str().len() + names) as u64
            + OBJECT_OVERHEAD
    }
}

/// A larger object would evict more than it saves.
const SHARE_DIVISOR: u64 = 16;
/// A body of unknown length is buffered up to this size before it is streamed to the disk.
const MAX_SHARE: u64 = 64 << 20;
const MAX_VARIANTS: usize = 64;
/// Each update of the last use from the fast path takes the lock.
pub(crate) const TOUCH_INTERVAL: Duration = Duration::from_secs(1);
const OBJECT_OVERHEAD: u64 = 2000;

#[cfg(test)]
mod tests;
