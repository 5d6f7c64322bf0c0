//! Prerendered heads of objects that are only on disk. Their bodies are read from the page cache
//! when they are sent.
//!
//! A head is valid while the object is fresh, no purge matches it, and no object is stored or
//! removed under its key in memory or on disk. It takes about 1 KB. Evicted heads are created again
//! after the next disk lookup.

use std::{
    collections::HashMap,
    mem,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use ::segment_store::{BlockRef, Wait};
use http_cache::{Terms, Time, U64Hasher, purge::Subject};
use http_stack::{Bytes, CompleteBody, FileRange, server::RequestView};

use crate::{
    fast_path::{
        fingerprint::{MAX_ENTRIES_PER_URL, RequestFingerprint, is_plain},
        prerendered::{DiskOnly, HeadFormat, Prerendered},
    },
    store::memory::{MemoryStore, Object, TOUCH_INTERVAL},
    telemetry::delivery::HitNotes,
};

#[derive(Debug)]
pub(crate) struct DiskHead {
    pub(crate) prerendered: Prerendered,
    pub(crate) terms: Terms,
    pub(crate) notes: HitNotes,
    subject: Subject,
    body: BlockRef,
    /// Milliseconds.
    verified_at: AtomicU64,
    number: u64,
    bytes: u64,
}

/// Two generations: when the young one reaches half of the limit, the old one is dropped.
#[derive(Debug)]
pub(crate) struct DiskHeadCache {
    capacity: usize,
    young: Generation,
    old: Generation,
}

#[derive(Debug, Default)]
struct Generation {
    entries: HashMap<u64, Vec<Entry>, U64Hasher>,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    fingerprint: RequestFingerprint,
    head: Arc<DiskHead>,
    bytes: usize,
    epoch: u64,
    uses: u32,
    last_touch: Time,
}

impl DiskHead {
    pub(crate) fn new(object: &Object, only: &DiskOnly, ready: Prerendered, notes: HitNotes) -> Self {
        Self {
            prerendered: ready,
            terms: object.stored.terms.clone(),
            notes,
            subject: object.subject.clone(),
            body: only.body.clone(),
            verified_at: AtomicU64::new(0),
            number: object.number(),
            bytes: object.bytes(),
        }
    }

    /// `None` if the body is not in the page cache. Returns its position in the file (for sendfile)
    /// if the checksum was verified less than [`VERIFY_INTERVAL`] ago.
    pub(crate) fn body(&self, now: Time) -> Option<CompleteBody> {
        let compared = Time::from_millis(self.verified_at.load(Relaxed));
        let is_moment_ago = compared <= now && now < compared.after(VERIFY_INTERVAL);
        let part = if is_moment_ago { self.part() } else { None };
        part.map(CompleteBody::File).or_else(|| self.read(now).map(CompleteBody::Bytes))
    }

    pub(crate) fn read(&self, now: Time) -> Option<Bytes> {
        let piece = self.body.read(Wait::Never).ok()?;
        self.verified_at.store(now.as_millis(), Relaxed);
        Some(Bytes::from_owner(piece))
    }

    fn part(&self) -> Option<FileRange> {
        let length = usize::try_from(self.body.bytes()).ok().filter(|&length| length >= FileRange::LEAST)?;
        let (file, at) = self.body.place()?;
        Some(FileRange::new(file, at, length))
    }

    fn cost(&self) -> usize {
        let Subject { zone, url, tags, groups } = &self.subject;
        let names = tags.iter().chain(groups).map(|name| size_of::<String>() + name.len());
        let about = self.notes.log_suffix.as_ref().map_or(0, |about| about.len());
        size_of::<Self>() + self.prerendered.bytes() + about + zone.len() + url.len() + names.sum::<usize>()
    }
}

impl DiskHeadCache {
    pub(crate) fn new(memory: u64, workers: usize) -> Self {
        let both = usize::try_from((memory / MEMORY_FRACTION).max(MIN_CAPACITY)).unwrap_or(usize::MAX)
            / workers.max(1);
        Self { capacity: both / 2, young: Generation::default(), old: Generation::default() }
    }

    pub(crate) fn find(
        &mut self,
        hash: u64,
        store: &MemoryStore,
        now: Time,
        request: &RequestView<'_>,
        head_format: HeadFormat,
    ) -> Option<Arc<DiskHead>> {
        if !self.young.entries.contains_key(&hash) {
            let entries = self.old.take(hash)?;
            self.insert(hash, entries);
        }
        let entries = self.young.entries.get_mut(&hash)?;
        if !is_plain(request) {
            return None;
        }
        let place = entries.iter().position(|entry| entry.matches(request, head_format))?;
        let entry = &mut entries[place];
        if entry.is_valid(store, now) && !entry.should_promote(store) {
            entry.touch_disk(now);
            return Some(Arc::clone(&entry.head));
        }
        self.young.bytes -= entries.swap_remove(place).bytes;
        None
    }

    pub(crate) fn add(&mut self, hash: u64, fingerprint: RequestFingerprint, head: DiskHead, epoch: u64) {
        let mut entries = self.young.take(hash).unwrap_or_default();
        let head_format = head.prerendered.format();
        let is_same = |entry: &Entry| {
            entry.head.prerendered.format() == head_format && entry.fingerprint == fingerprint
        };
        entries.retain(|entry| entry.head.body.stands() && !is_same(entry));
        if entries.len() >= MAX_ENTRIES_PER_URL {
            entries.remove(0);
        }
        let bytes = size_of::<Entry>() + fingerprint.bytes() + head.cost();
        let (head, last_touch) = (Arc::new(head), Time::from_millis(0));
        entries.push(Entry { fingerprint, head, bytes, epoch, uses: 0, last_touch });
        self.insert(hash, entries);
    }

    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.young.bytes + self.old.bytes
    }

    pub(crate) fn clear(&mut self) {
        (self.young, self.old) = (Generation::default(), Generation::default());
    }

    fn insert(&mut self, hash: u64, entries: Vec<Entry>) {
        if self.young.bytes >= self.capacity {
            self.old = mem::take(&mut self.young);
        }
        self.young.bytes += entries.iter().map(|entry| entry.bytes).sum::<usize>();
        self.young.entries.insert(hash, entries);
    }
}

impl Generation {
    fn take(&mut self, hash: u64) -> Option<Vec<Entry>> {
        let entries = self.entries.remove(&hash)?;
        self.bytes -= entries.iter().map(|entry| entry.bytes).sum::<usize>();
        Some(entries)
    }
}

impl Entry {
    fn matches(&self, request: &RequestView<'_>, head_format: HeadFormat) -> bool {
        self.head.prerendered.format() == head_format && self.fingerprint.matches(request)
    }

    fn is_valid(&mut self, store: &MemoryStore, now: Time) -> bool {
        self.head.terms.is_fresh(now)
            && self.head.body.stands()
            && store.is_unpurged(&mut self.epoch, &self.head.subject)
    }

    /// Checked only every [`USES_PER_CHECK`] uses, because the check takes the lock of the store.
    fn should_promote(&mut self, store: &MemoryStore) -> bool {
        self.uses += 1;
        self.uses.is_multiple_of(USES_PER_CHECK) && store.should_promote(self.head.number, self.head.bytes)
    }

    fn touch_disk(&mut self, now: Time) {
        if now >= self.last_touch.after(TOUCH_INTERVAL) {
            self.last_touch = now;
            self.head.body.mark();
        }
    }
}

/// The heads of all workers may take this part of the memory store's capacity, in addition to it.
const MEMORY_FRACTION: u64 = 8;
const MIN_CAPACITY: u64 = 4 << 20;
/// How long a body is sent from its file without another checksum verification.
pub(crate) const VERIFY_INTERVAL: Duration = Duration::from_secs(1);
const USES_PER_CHECK: u32 = 16;
