//! Heads of objects that are on disk alone, prepared for a core to answer with at once: their bodies are read when they are sent.
//!
//! A head stands for as long as the object is fresh, no purge means it, and nothing is stored or removed under its key, in memory or on
//! disk. It takes about a kilobyte where its object would take its body too; what there is no room for is looked for on disk again.

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

/// What an object on disk is answered with.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) ready: Ready,
    pub(crate) terms: Terms,
    /// What the log says of it, if there is one.
    pub(crate) about: Option<Arc<[u8]>>,
    subject: Subject,
    body: Short,
    /// When its bytes were last compared with their checksum.
    compared: AtomicU64,
    /// The object's number, and the bytes that it would have in memory.
    number: u64,
    bytes: u64,
}

/// The heads that a core has, in two generations: when the younger one has half of the room, the older one goes.
#[derive(Debug)]
pub(crate) struct Heads {
    /// Bytes that a generation may have.
    most: usize,
    young: Generation,
    old: Generation,
}

#[derive(Debug, Default)]
struct Generation {
    entries: HashMap<u64, Vec<Entry>, Spread>,
    bytes: usize,
}

/// A request, and what answers it.
#[derive(Debug)]
struct Entry {
    likeness: Likeness,
    head: Arc<Head>,
    bytes: usize,
    /// No purge up to this one means it.
    epoch: u64,
    uses: u32,
    /// When the disk was last told that the object is in use.
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

    /// The body, if the kernel has it in memory. Where it is in its file, if it was compared with its checksum a moment ago: then the
    /// kernel still has it, as surely as this program's own code.
    pub(crate) fn body(&self, now: Time) -> Option<Whole> {
        let compared = Time::from_millis(self.compared.load(Relaxed));
        let is_moment_ago = compared <= now && now < compared.after(MOMENT);
        let part = if is_moment_ago { self.part() } else { None };
        part.map(Whole::File).or_else(|| self.read(now).map(Whole::Bytes))
    }

    /// A copy of it, compared with its checksum, if the kernel has it in memory.
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

    /// Bytes that it takes in memory.
    fn cost(&self) -> usize {
        let Subject { zone, url, tags, groups } = &self.subject;
        let names = tags.iter().chain(groups).map(|name| size_of::<String>() + name.len());
        let about = self.about.as_ref().map_or(0, |about| about.len());
        size_of::<Self>() + self.ready.bytes() + about + zone.len() + url.len() + names.sum::<usize>()
    }
}

impl Heads {
    /// Those of one of so many cores, which have this much memory for objects together.
    pub(crate) fn new(memory: u64, cores: usize) -> Self {
        let both = usize::try_from((memory / PARTS).max(LEAST)).unwrap_or(usize::MAX) / cores.max(1);
        Self { most: both / 2, young: Generation::default(), old: Generation::default() }
    }

    /// The head that answers a request in this shape, if it stands, and its object is not worth a place in memory.
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

    /// Adds a request, and the head that answers it if no purge after this epoch means it.
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

    /// Bytes of all of them.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.young.bytes + self.old.bytes
    }

    /// Forgets everything.
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

    /// Asks the store now and then, as that takes its lock, whether the object is used so much that it should be in memory.
    fn is_wanted(&mut self, store: &Store) -> bool {
        self.uses += 1;
        self.uses.is_multiple_of(USES) && store.wants(self.head.number, self.head.bytes)
    }

    /// Tells the disk, which gives up what is not used.
    fn tell(&mut self, now: Time) {
        if now >= self.told.after(TELLING) {
            self.told = now;
            self.head.body.mark();
        }
    }
}

/// Beside the memory for objects, heads may take this part of it, of all cores together.
const PARTS: u64 = 8;
/// What they may take however little that is.
const LEAST: u64 = 4 << 20;
/// For how long a body is sent from where it is without being compared again.
pub(crate) const MOMENT: Duration = Duration::from_secs(1);
/// Between two times that the store is asked whether it wants an object.
const USES: u32 = 16;
