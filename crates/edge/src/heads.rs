//! Prerendered heads of objects that are only on disk. Their bodies are read from the page cache when they
//! are sent.
//!
//! A head is valid while the object is fresh, no purge matches it, and no object is stored or removed under
//! its key in memory or on disk. It takes about 1 KB, while the object in memory would take its body too.
//! Evicted heads are created again after the next disk lookup.

use std::{
    collections::HashMap,
    mem,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use ::disk::{Short, Wait};
use cache::{Spread, Terms, Time, purge::Subject};
use http::{Bytes, FilePart, Whole, server::Glance};

use crate::{
    likeness::{Likeness, MOST_ALIKE, is_plain},
    ready::{OnlyOnDisk, Ready, Shape},
    store::{Object, Store, TELLING},
};

#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) ready: Ready,
    pub(crate) terms: Terms,
    /// The request details of the access log line; `None` without a log.
    pub(crate) about: Option<Arc<[u8]>>,
    subject: Subject,
    body: Short,
    /// The time of the last checksum verification, in ms.
    compared: AtomicU64,
    /// The object's number, and the bytes that it would take in memory.
    number: u64,
    bytes: u64,
}

/// The heads of one core, in two generations: when the young one reaches half of the limit, the old one is
/// dropped.
#[derive(Debug)]
pub(crate) struct Heads {
    most: usize,
    young: Generation,
    old: Generation,
}

#[derive(Debug, Default)]
struct Generation {
    entries: HashMap<u64, Vec<Entry>, Spread>,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    likeness: Likeness,
    head: Arc<Head>,
    bytes: usize,
    /// No purge up to this epoch matches the object.
    epoch: u64,
    uses: u32,
    /// The time of the last usage report to the disk.
    told: Time,
}

impl Head {
    pub(crate) fn new(object: &Object, only: &OnlyOnDisk, ready: Ready, about: Option<Arc<[u8]>>) -> Self {
        Self {
            ready,
            terms: object.stored.terms.clone(),
            about,
            subject: object.subject.clone(),
            body: only.body.clone(),
            compared: AtomicU64::new(0),
            number: object.number(),
            bytes: object.bytes(),
        }
    }

    /// The body, if it is in the page cache. Returns its position in the file (for sendfile) if the checksum
    /// was verified less than [`MOMENT`] ago, because the page cache still contains it then.
    pub(crate) fn body(&self, now: Time) -> Option<Whole> {
        let compared = Time::from_millis(self.compared.load(Relaxed));
        let is_moment_ago = compared <= now && now < compared.after(MOMENT);
        let part = if is_moment_ago { self.part() } else { None };
        part.map(Whole::File).or_else(|| self.read(now).map(Whole::Bytes))
    }

    /// A copy of the body with verified checksum, if it is in the page cache.
    pub(crate) fn read(&self, now: Time) -> Option<Bytes> {
        let piece = self.body.read(Wait::Never).ok()?;
        self.compared.store(now.as_millis(), Relaxed);
        Some(Bytes::from_owner(piece))
    }

    fn part(&self) -> Option<FilePart> {
        let length = usize::try_from(self.body.bytes()).ok().filter(|&length| length >= FilePart::LEAST)?;
        let (file, at) = self.body.place()?;
        Some(FilePart::new(file, at, length))
    }

    fn cost(&self) -> usize {
        let Subject { zone, url, tags, groups } = &self.subject;
        let names = tags.iter().chain(groups).map(|name| size_of::<String>() + name.len());
        let about = self.about.as_ref().map_or(0, |about| about.len());
        size_of::<Self>() + self.ready.bytes() + about + zone.len() + url.len() + names.sum::<usize>()
    }
}

impl Heads {
    /// The heads of one of `cores` cores; `memory` is the capacity of the memory store.
    pub(crate) fn new(memory: u64, cores: usize) -> Self {
        let both = usize::try_from((memory / PARTS).max(LEAST)).unwrap_or(usize::MAX) / cores.max(1);
        Self { most: both / 2, young: Generation::default(), old: Generation::default() }
    }

    /// The head for a request in this shape, if it is valid and the object should not be admitted to memory.
    pub(crate) fn find(
        &mut self,
        hash: u64,
        store: &Store,
        now: Time,
        request: &Glance<'_>,
        shape: Shape,
    ) -> Option<Arc<Head>> {
        if !self.young.entries.contains_key(&hash) {
            let entries = self.old.take(hash)?;
            self.put(hash, entries);
        }
        let entries = self.young.entries.get_mut(&hash)?;
        if !is_plain(request) {
            return None;
        }
        let place = entries.iter().position(|entry| entry.answers(request, shape))?;
        let entry = &mut entries[place];
        if entry.stands(store, now) && !entry.is_wanted(store) {
            entry.tell(now);
            return Some(Arc::clone(&entry.head));
        }
        self.young.bytes -= entries.swap_remove(place).bytes;
        None
    }

    /// Adds a request with its head, for an object that no purge up to `epoch` matches.
    pub(crate) fn add(&mut self, hash: u64, likeness: Likeness, head: Head, epoch: u64) {
        let mut entries = self.young.take(hash).unwrap_or_default();
        let shape = head.ready.shape();
        let is_same = |entry: &Entry| entry.head.ready.shape() == shape && entry.likeness == likeness;
        entries.retain(|entry| entry.head.body.stands() && !is_same(entry));
        if entries.len() >= MOST_ALIKE {
            entries.remove(0);
        }
        let bytes = size_of::<Entry>() + likeness.bytes() + head.cost();
        let (head, told) = (Arc::new(head), Time::from_millis(0));
        entries.push(Entry { likeness, head, bytes, epoch, uses: 0, told });
        self.put(hash, entries);
    }

    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.young.bytes + self.old.bytes
    }

    pub(crate) fn clear(&mut self) {
        (self.young, self.old) = (Generation::default(), Generation::default());
    }

    fn put(&mut self, hash: u64, entries: Vec<Entry>) {
        if self.young.bytes >= self.most {
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
    fn answers(&self, request: &Glance<'_>, shape: Shape) -> bool {
        self.head.ready.shape() == shape && self.likeness.is(request)
    }

    fn stands(&mut self, store: &Store, now: Time) -> bool {
        self.head.terms.is_fresh(now)
            && self.head.body.stands()
            && store.is_unpurged(&mut self.epoch, &self.head.subject)
    }

    /// Whether the object is used often enough to be admitted to memory. Checked only every [`USES`] uses,
    /// because the check takes the lock of the store.
    fn is_wanted(&mut self, store: &Store) -> bool {
        self.uses += 1;
        self.uses.is_multiple_of(USES) && store.wants(self.head.number, self.head.bytes)
    }

    /// Reports usage to the disk, which evicts unused objects.
    fn tell(&mut self, now: Time) {
        if now >= self.told.after(TELLING) {
            self.told = now;
            self.head.body.mark();
        }
    }
}

/// The heads of all cores may take this part of the memory store's capacity, in addition to it.
const PARTS: u64 = 8;
/// The minimum of that limit, in bytes.
const LEAST: u64 = 4 << 20;
/// How long a body is sent from its file without another checksum verification.
pub(crate) const MOMENT: Duration = Duration::from_secs(1);
/// Uses between two admission checks.
const USES: u32 = 16;
