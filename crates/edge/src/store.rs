//! Objects in memory: found by key and variant, evicted when there are too many bytes, and purged.
//!
//! One copy of each object, behind one lock that is held for a look-up and never for a body.

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

use cache::{
    Eviction, Key, Spread, Stored, Time,
    purge::{Depth, Log, Purge, Subject},
};
use http::{HeaderMap, HeaderName};

use crate::{compact::FIELD, fill::Fill, names::Names, note::Noted, parts::Parts, ready::Serving};

/// A response that is kept.
#[derive(Debug, Clone)]
pub(crate) struct Object {
    pub(crate) key: Key,
    /// What purges know it by.
    pub(crate) subject: Subject,
    /// Its head, and what it may be used for.
    pub(crate) stored: Stored,
    pub(crate) body: Arc<Fill>,
    /// What is here of a body of which some is missing; then `body` is empty, and nobody reads it.
    pub(crate) parts: Option<Arc<Parts>>,
    /// The epoch at which its origin was asked.
    pub(crate) began: u64,
    /// The place of that request in the order of requests; 0 if the object was read from the disk.
    pub(crate) asked: u64,
    pub(crate) serving: Serving,
}

/// What is made of an object while it stands in the store.
#[derive(Debug)]
pub(crate) struct Lease {
    /// The object's; with another one, the lease has ended.
    pub(crate) version: u64,
    /// Fields of requests by which the variants of its resource are told apart.
    pub(crate) names: Vec<HeaderName>,
}

/// What there is for a request.
#[derive(Debug)]
pub(crate) enum Found {
    Object(Arc<Object>),
    /// One of which parts are here.
    InParts(Arc<Object>, Arc<Parts>),
    /// Only variants for other requests.
    OtherVariant,
    Nothing,
}

/// What is in a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) bytes: u64,
    pub(crate) objects: usize,
    pub(crate) evicted: u64,
}

/// All objects of a data centre.
#[derive(Debug)]
pub(crate) struct Store {
    inner: Mutex<Inner>,
    /// How many bytes it may have.
    capacity: u64,
    /// The newest purge's place, to be seen without a lock.
    epoch: AtomicU64,
    /// The disk below it, which is told what it is newer than.
    disk: Option<::disk::Store>,
}

#[derive(Debug)]
struct Inner {
    resources: HashMap<Key, Vec<Arc<Object>>, Spread>,
    /// Where the object of a number is.
    keys: HashMap<u64, Key, Spread>,
    names: Names,
    eviction: Eviction,
    evicted: u64,
    log: Log,
    /// Counts uses, for the order of last use among the variants of a resource.
    uses: u64,
}

impl Store {
    /// One for so many bytes.
    pub(crate) fn new(bytes: u64) -> Self {
        let (resources, keys) = (HashMap::default(), HashMap::default());
        let (names, eviction, log) = (Names::default(), Eviction::new(bytes), Log::default());
        let inner = Mutex::new(Inner { resources, keys, names, eviction, evicted: 0, log, uses: 0 });
        Self { inner, capacity: bytes, epoch: AtomicU64::new(0), disk: None }
    }

    /// The same, above a disk.
    pub(crate) fn above(self, disk: Option<::disk::Store>) -> Self {
        Self { disk, ..self }
    }

    /// The object for a request with this header; the newest, if several would do.
    pub(crate) fn find(&self, key: &Key, request: &HeaderMap) -> Found {
        let mut inner = self.lock();
        let Some(variants) = inner.resources.get(key) else { return Found::Nothing };
        match variants.iter().find(|object| object.stored.selection.matches(request)).cloned() {
            // The disk may have it at another place, or has given it up.
            Some(object) if object.body.is_broken() => {
                inner.eviction.remove(object.number());
                inner.forget(object.number());
                Found::Nothing
            }
            Some(object) => {
                inner.use_now(&object);
                match object.parts.clone() {
                    Some(parts) => Found::InParts(object, parts),
                    None => Found::Object(object),
                }
            }
            None => Found::OtherVariant,
        }
    }

    /// Counts a use of an object that was found before.
    pub(crate) fn touch(&self, object: &Object) {
        self.lock().use_now(object);
    }

    /// For what is made of an object that was found, if it still stands.
    pub(crate) fn lease(&self, object: &Arc<Object>) -> Option<Lease> {
        let inner = self.lock();
        let variants = inner.resources.get(&object.key)?;
        let stands = variants.iter().any(|other| Arc::ptr_eq(other, object));
        let names = variants.iter().flat_map(|other| other.stored.selection.names()).cloned();
        stands.then(|| Lease { version: object.serving.version(), names: names.collect() })
    }

    /// For what is made of an object that only the disk has: fields of requests by which variants in memory are told apart; `None` if
    /// one of them is for this request.
    pub(crate) fn names_beside(&self, key: &Key, request: &HeaderMap) -> Option<Vec<HeaderName>> {
        let inner = self.lock();
        let Some(variants) = inner.resources.get(key) else { return Some(Vec::new()) };
        let is_here = variants.iter().any(|object| object.stored.selection.matches(request));
        let names = variants.iter().flat_map(|object| object.stored.selection.names()).cloned();
        (!is_here).then(|| names.collect())
    }

    /// Whether an object on disk is not to be added, as it would take another one's place and was not asked for again soon. Then the
    /// epoch up to which no purge means it.
    pub(crate) fn leave_out(&self, object: &Object) -> Option<u64> {
        let mut inner = self.lock();
        let is_purged = inner.log.since(object.began, &object.subject).is_some();
        let stays_out = !is_purged && !inner.eviction.is_worth(object.number(), object.bytes());
        stays_out.then(|| inner.log.epoch())
    }

    /// Whether an object that was left out is to be added after all.
    pub(crate) fn wants(&self, number: u64, bytes: u64) -> bool {
        self.lock().eviction.is_worth(number, bytes)
    }

    /// Whether no purge since this epoch means an object; if so, it is the newest one's from then on. No lock if there was none at all.
    pub(crate) fn is_unpurged(&self, epoch: &mut u64, subject: &Subject) -> bool {
        if self.epoch.load(Acquire) == *epoch {
            return true;
        }
        let inner = self.lock();
        let is_unpurged = inner.log.since(*epoch, subject).is_none();
        *epoch = inner.log.epoch();
        is_unpurged
    }

    /// Whether an object was purged since its origin was asked, so that nobody may have it.
    pub(crate) fn is_purged(&self, object: &Object) -> bool {
        self.lock().log.since(object.began, &object.subject) == Some(Depth::Hard)
    }

    /// Adds an object, which goes before those that the same `request` would have found. One that was purged since its origin was
    /// asked is stale from the beginning, or not added.
    pub(crate) fn add(&self, mut object: Object, request: &HeaderMap, now: Time) -> Arc<Object> {
        let mut inner = self.lock();
        let purged = inner.log.since(object.began, &object.subject);
        if purged == Some(Depth::Soft) {
            object.stored.terms.outdated = Some(now);
        }
        let object = Arc::new(object);
        if purged == Some(Depth::Hard) {
            return object;
        }
        inner.keys.insert(object.number(), object.key.clone());
        let variants = inner.resources.entry(object.key.clone()).or_default();
        variants.iter().for_each(|other| other.serving.retire());
        let is_replaced = |other: &mut Arc<Object>| {
            other.stored.selection.matches(request) || other.number() == object.number()
        };
        let mut replaced: Vec<_> = variants.extract_if(.., is_replaced).collect();
        if variants.len() >= MOST_VARIANTS {
            let last_uses = variants.iter().map(|other| other.serving.last_use()).enumerate();
            let oldest = last_uses.min_by_key(|(_, last_use)| *last_use);
            replaced.extend(oldest.map(|(place, _)| variants.remove(place)));
        }
        variants.insert(0, Arc::clone(&object));
        inner.uses += 1;
        object.serving.used(inner.uses);
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
        self.outdate(&object.key);
        drop(inner);
        object
    }

    /// Counts the bytes of an object whose body is whole; what there is too much of goes.
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

    /// Counts the bytes of an object again, which have become more; whether it still stands.
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

    /// Gives an object of which parts were here a body that is whole, or comes from its beginning, if it stands.
    pub(crate) fn complete(&self, object: &Object, body: Arc<Fill>) -> Option<Arc<Object>> {
        let mut inner = self.lock();
        let variants = inner.resources.get_mut(&object.key)?;
        let standing = variants.iter_mut().find(|other| Arc::ptr_eq(&other.body, &object.body))?;
        standing.serving.retire();
        *standing = Arc::new(Object { body, parts: None, ..Object::clone(standing) });
        let whole = Arc::clone(standing);
        self.outdate(&whole.key);
        drop(inner);
        self.recount(&whole);
        Some(whole)
    }

    /// Takes an object out, unless another one took its place.
    pub(crate) fn remove(&self, object: &Object) {
        let mut inner = self.lock();
        if inner.has(object) {
            inner.eviction.remove(object.number());
            inner.forget(object.number());
        }
    }

    /// The whole object that would answer a request with this header; that is no use of it.
    pub(crate) fn whole(&self, key: &Key, request: &HeaderMap) -> Option<Arc<Object>> {
        let inner = self.lock();
        let mut variants = inner.resources.get(key)?.iter();
        let is_whole = |object: &&Arc<Object>| object.parts.is_none() && object.body.length().is_some();
        variants.find(|object| object.stored.selection.matches(request)).filter(is_whole).cloned()
    }

    /// Puts the object `before` back that another one replaced which broke off, unless a third one is there.
    pub(crate) fn restore(&self, broken: &Object, before: &Object, request: &HeaderMap, now: Time) {
        self.remove(broken);
        let is_free = {
            let inner = self.lock();
            let variants = inner.resources.get(&before.key);
            variants.is_none_or(|variants| {
                variants.iter().all(|object| !object.stored.selection.matches(request))
            })
        };
        if is_free {
            let restored = self.add(Object::clone(before), request, now);
            self.settle(&restored);
        }
    }

    /// Takes out what would answer a request with this header, unless it answers a request after that of this number.
    pub(crate) fn end_use(&self, key: &Key, request: &HeaderMap, number: u64) {
        let mut inner = self.lock();
        let Some(variants) = inner.resources.get(key) else { return };
        let is_ended =
            |object: &&Arc<Object>| object.asked <= number && object.stored.selection.matches(request);
        let ended = variants.iter().filter(is_ended);
        let numbers: Vec<_> = ended.map(|object| object.number()).collect();
        for number in numbers {
            inner.eviction.remove(number);
            inner.forget(number);
        }
    }

    /// Goes on with the purges of a run before.
    pub(crate) fn resume(&self, noted: Vec<Noted>) {
        let mut inner = self.lock();
        for Noted { epoch, zone, purge, depth, .. } in noted {
            inner.log.again(epoch, &zone, purge, depth);
        }
        self.epoch.store(inner.log.epoch(), Release);
    }

    /// Purges in one zone; returns the last purge's epoch, and how many objects it found.
    pub(crate) fn purge(&self, zone: &str, purges: Vec<Purge>, depth: Depth, now: Time) -> (u64, usize) {
        let mut inner = self.lock();
        let purged = inner.purge(zone, purges, depth, now);
        self.epoch.store(purged.0, Release);
        purged
    }

    /// Purges what a response makes invalid whose origin was asked at an epoch; returns the epoch at which it counts as asked, not
    /// before these purges, which are not of itself, unless others were; and the last purge's.
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

    /// The newest purge's place.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Acquire)
    }

    /// What is in it.
    pub(crate) fn usage(&self) -> Usage {
        let inner = self.lock();
        Usage { bytes: inner.eviction.bytes(), objects: inner.keys.len(), evicted: inner.evicted }
    }

    /// How many bytes it may have.
    pub(crate) fn capacity(&self) -> u64 {
        self.capacity
    }

    /// How many of them one object may have, if there is a disk for larger ones.
    pub(crate) fn share(&self) -> u64 {
        (self.capacity() / PARTS).min(LARGEST_SHARE)
    }

    /// What was found on disk under this key is not what there is.
    fn outdate(&self, key: &Key) {
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
        let (mut gone, mut found) = (Vec::new(), 0);
        for number in self.candidates(&purges) {
            let Some(variants) = self.keys.get(&number).and_then(|key| self.resources.get_mut(key)) else {
                continue;
            };
            let mut variants = variants.iter_mut();
            let object = variants.find(|object| object.number() == number && is_meant(object));
            let Some(object) = object else { continue };
            found += 1;
            object.serving.retire();
            match depth {
                Depth::Hard => gone.push(object.number()),
                Depth::Soft => {
                    let outdated = object.stored.terms.outdated.map_or(now, |earlier| earlier.min(now));
                    let mut stale = Object::clone(object);
                    stale.stored.terms.outdated = Some(outdated);
                    *object = Arc::new(stale);
                }
            }
        }
        for number in gone {
            self.eviction.remove(number);
            self.forget(number);
        }
        for purge in purges {
            self.log.add(zone, purge, depth);
        }
        (self.log.epoch(), found)
    }

    /// The numbers of all objects that purges may mean.
    fn candidates(&self, purges: &[Purge]) -> BTreeSet<u64> {
        let found: Option<Vec<_>> = purges.iter().map(|purge| self.names.find(purge)).collect();
        match found {
            Some(found) => found.into_iter().flatten().collect(),
            None => self.keys.keys().copied().collect(),
        }
    }

    /// Counts a use of an object.
    fn use_now(&mut self, object: &Object) {
        self.eviction.hit(object.number());
        self.uses += 1;
        object.serving.used(self.uses);
    }

    fn has(&self, object: &Object) -> bool {
        let variants = self.resources.get(&object.key);
        variants.is_some_and(|variants| variants.iter().any(|other| Arc::ptr_eq(&other.body, &object.body)))
    }

    fn forget(&mut self, number: u64) {
        let Some(key) = self.keys.remove(&number) else { return };
        if let Entry::Occupied(mut variants) = self.resources.entry(key) {
            for object in variants.get_mut().extract_if(.., |object| object.number() == number) {
                object.serving.retire();
                self.names.remove(number, &object.subject);
            }
            if variants.get().is_empty() {
                variants.remove();
            }
        }
    }
}

impl Object {
    /// The same for every response of a key and a variant, so that one which comes back is known.
    pub(crate) fn number(&self) -> u64 {
        *self.serving.number.get_or_init(|| {
            let mut hasher = DefaultHasher::new();
            self.key.as_str().hash(&mut hasher);
            self.stored.selection.hash(&mut hasher);
            hasher.finish()
        })
    }

    /// What it takes in memory: body in all codings, header, key, and about as much for the structures around them as was measured.
    pub(crate) fn bytes(&self) -> u64 {
        let headers = &self.stored.headers;
        let text: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
        let header = text + headers.capacity() * FIELD;
        let body = self.parts.as_ref().map_or_else(|| self.body.bytes_here(), |parts| parts.memory());
        let names = self.subject.bytes() + self.stored.selection.bytes();
        body + self.body.coded_bytes() + (header + 2 * self.key.as_str().len() + names) as u64 + OBJECT
    }
}

/// A longer object would push out more of the others than it saves by being in memory.
const PARTS: u64 = 16;
/// However large memory is: what comes without a length is held up to this before it goes to the disk.
const LARGEST_SHARE: u64 = 64 << 20;
/// Variants of one resource; of more, those that were stored first go.
const MOST_VARIANTS: usize = 64;
/// Between two times that whoever answers at once says that an object is in use, as that takes a lock.
pub(crate) const TELLING: Duration = Duration::from_secs(1);
/// What an object takes besides, as the allocator rounds it: memory of a process that had 25 000 of 1 KB, less what is counted above.
const OBJECT: u64 = 2000;

#[cfg(test)]
mod tests;
