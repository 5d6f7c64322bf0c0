//! The index of objects and segments in memory. It is updated by entries, and rebuilt from the same
//! entries when a store is opened.
//!
//! A segment is *pinned* by each object that needs it or lies between segments that it needs, and
//! by each writer that has blocks in it. A segment without pins is dead, unless it contains
//! removals of objects whose older segments still exist: otherwise these objects would reappear at
//! the next start.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    format::{Entry, Id, Kind},
    generations::Changes,
    segment::Segment,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) segment: u32,
    pub(crate) offset: u32,
    pub(crate) length: u32,
    pub(crate) first: u32,
    /// Needed or not.
    oldest: u32,
    /// Since it was written.
    pub(crate) is_read: bool,
}

impl Spot {
    pub(crate) fn is_same_record(&self, other: &Self) -> bool {
        (self.segment, self.offset) == (other.segment, other.offset)
    }
}

/// The contents of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Number of objects.
    pub objects: u64,
    /// Bytes of all segments, including obsolete records and footers that are not written yet.
    pub bytes: u64,
    /// Number of segments.
    pub segments: u64,
    /// Objects that were evicted since the store was opened.
    pub evicted: u64,
    /// Objects that were written again instead of being evicted, because they had been read.
    pub carried: u64,
    /// Objects that were dropped because of a wrong checksum.
    pub damaged: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Index {
    inner: Mutex<Inner>,
    pub(crate) changes: Changes,
}

#[derive(Debug, Default)]
struct Inner {
    objects: BTreeMap<Id, Spot>,
    segments: BTreeMap<u32, Held>,
    usage: Usage,
    may_be_dead: bool,
}

#[derive(Debug)]
struct Held {
    segment: Arc<Segment>,
    bytes: u64,
    pins: u32,
    /// Segments that may have objects whose removals are in this one.
    victims: BTreeSet<u32>,
    /// Set if the footer could not be written.
    entries: Option<Vec<Entry>>,
}

impl Index {
    pub(crate) fn add(&self, segment: Arc<Segment>, bytes: u64) {
        let mut inner = self.lock();
        inner.usage.bytes += bytes;
        inner.may_be_dead = true;
        let held = Held { bytes, pins: 0, victims: BTreeSet::new(), entries: None, segment };
        inner.segments.insert(held.segment.number, held);
    }

    pub(crate) fn charge(&self, number: u32, bytes: u64) {
        let mut inner = self.lock();
        if let Some(held) = inner.segments.get_mut(&number) {
            held.bytes += bytes;
            inner.usage.bytes += bytes;
        }
    }

    pub(crate) fn keep(&self, number: u32, entries: Vec<Entry>) {
        if let Some(held) = self.lock().segments.get_mut(&number) {
            held.entries = Some(entries);
        }
    }

    pub(crate) fn kept(&self, number: u32) -> Option<Vec<Entry>> {
        self.lock().segments.get(&number)?.entries.clone()
    }

    /// Entries must be applied in the order of the log.
    pub(crate) fn apply(&self, segment: u32, entry: &Entry) {
        let mut inner = self.lock();
        match entry.kind {
            Kind::Object => {
                let Entry { id, offset, length, first, .. } = *entry;
                let before = inner.take(id);
                // The older segments may have been evicted already.
                if inner.segments.contains_key(&first) {
                    let oldest = before.map_or(segment, |before| before.oldest.min(segment));
                    let is_read = before.is_some_and(|before| before.is_read);
                    inner.objects.insert(id, Spot { segment, offset, length, first, oldest, is_read });
                    inner.pin(first, segment);
                }
            }
            Kind::Removal => {
                inner.take(entry.id);
                let victims: Vec<_> =
                    inner.segments.range(entry.first..=entry.last).map(|(n, _)| *n).collect();
                if let Some(held) = inner.segments.get_mut(&segment) {
                    held.victims.extend(victims.into_iter().filter(|victim| *victim != segment));
                }
            }
            Kind::Block | Kind::Footer | Kind::Note => return,
        }
        self.changes.note(entry.id.hash);
    }

    /// Newest first.
    pub(crate) fn find(&self, hash: u64) -> Vec<(Id, Spot, Arc<Segment>)> {
        let inner = self.lock();
        let all = Id { hash, number: 0 }..=Id { hash, number: u64::MAX };
        let found = inner.objects.range(all).rev().take(MOST_FOUND);
        let found = found.filter_map(|(id, spot)| {
            Some((*id, *spot, Arc::clone(&inner.segments.get(&spot.segment)?.segment)))
        });
        found.collect()
    }

    pub(crate) fn get(&self, id: Id) -> Option<(Spot, Arc<Segment>)> {
        let inner = self.lock();
        let spot = *inner.objects.get(&id)?;
        Some((spot, Arc::clone(&inner.segments.get(&spot.segment)?.segment)))
    }

    /// `None` if one no longer exists.
    pub(crate) fn segments(&self, numbers: impl Iterator<Item = u32>) -> Option<BTreeMap<u32, Arc<Segment>>> {
        let inner = self.lock();
        let numbers: BTreeSet<_> = numbers.collect();
        let found = |number| Some((number, Arc::clone(&inner.segments.get(&number)?.segment)));
        numbers.into_iter().map(found).collect()
    }

    pub(crate) fn mark(&self, id: Id, is_read: bool) {
        if let Some(spot) = self.lock().objects.get_mut(&id) {
            spot.is_read = is_read;
        }
    }

    /// Returns the oldest and the newest segment that may have a record of the object.
    pub(crate) fn remove(&self, id: Id) -> Option<(u32, u32)> {
        self.take(id).map(|spot| (spot.oldest, spot.segment))
    }

    pub(crate) fn evict(&self, id: Id) {
        let is_taken = self.take(id).is_some();
        self.lock().usage.evicted += u64::from(is_taken);
    }

    pub(crate) fn damaged(&self, id: Id) {
        let is_taken = self.take(id).is_some();
        self.lock().usage.damaged += u64::from(is_taken);
    }

    pub(crate) fn carried(&self, id: Id) {
        self.mark(id, false);
        self.lock().usage.carried += 1;
    }

    pub(crate) fn clear(&self) {
        let mut inner = self.lock();
        for id in inner.objects.keys().copied().collect::<Vec<_>>() {
            inner.take(id);
        }
        self.changes.note_all();
    }

    /// Slow; used if the footer cannot be read.
    pub(crate) fn needing(&self, number: u32) -> Vec<Id> {
        let inner = self.lock();
        inner.objects.iter().filter(|(_, spot)| spot.first <= number).map(|(id, _)| *id).collect()
    }

    pub(crate) fn pin(&self, number: u32) {
        self.lock().pin(number, number);
    }

    pub(crate) fn unpin(&self, numbers: &BTreeSet<u32>) {
        let mut inner = self.lock();
        numbers.iter().for_each(|number| inner.unpin(*number, *number));
    }

    pub(crate) fn oldest(&self) -> Option<(Arc<Segment>, u64)> {
        let inner = self.lock();
        inner.segments.values().next().map(|held| (Arc::clone(&held.segment), held.bytes))
    }

    /// The newest segment is never dead, because its number determines the next one.
    pub(crate) fn dead(&self) -> Option<Arc<Segment>> {
        let mut inner = self.lock();
        if !inner.may_be_dead {
            return None;
        }
        let newest = inner.segments.keys().next_back().copied();
        let is_dead = |held: &&Held| {
            held.pins == 0
                && Some(held.segment.number) != newest
                && !held.victims.iter().any(|victim| inner.segments.contains_key(victim))
        };
        let dead = inner.segments.values().find(is_dead).map(|held| Arc::clone(&held.segment));
        inner.may_be_dead = dead.is_some();
        dead
    }

    pub(crate) fn forget(&self, number: u32) {
        let mut inner = self.lock();
        if let Some(held) = inner.segments.remove(&number) {
            inner.usage.bytes -= held.bytes;
            inner.may_be_dead = true;
        }
    }

    pub(crate) fn usage(&self) -> Usage {
        let inner = self.lock();
        let (objects, segments) = (inner.objects.len() as u64, inner.segments.len() as u64);
        Usage { objects, segments, ..inner.usage }
    }

    fn take(&self, id: Id) -> Option<Spot> {
        let taken = self.lock().take(id);
        self.changes.note(id.hash);
        taken
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn take(&mut self, id: Id) -> Option<Spot> {
        let spot = self.objects.remove(&id)?;
        self.unpin(spot.first, spot.segment);
        Some(spot)
    }

    fn pin(&mut self, first: u32, last: u32) {
        self.segments.range_mut(first..=last).for_each(|(_, held)| held.pins += 1);
    }

    fn unpin(&mut self, first: u32, last: u32) {
        for (_, held) in self.segments.range_mut(first..=last) {
            // The segment may have been evicted already.
            held.pins = held.pins.saturating_sub(1);
            self.may_be_dead |= held.pins == 0;
        }
    }
}

/// If a hash has more objects, the oldest are not found.
const MOST_FOUND: usize = 64;
