//! Copies of values in memory, which avoid repeated reads of the file.
//!
//! If the store is local, a copy is kept only if no write has occurred since its reader took a
//! ticket. If the store is in another data centre, absent values are cached too, and versions of
//! writes are remembered so that older responses are not kept.
//!
//! Eviction is a clock algorithm. The eviction of a value that is also on disk first frees the
//! value and keeps its metadata for another turn.

use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasher as _, RandomState},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use kv::{CopyAge, CopyUse, FreshnessPolicy, MOST_KEY_BYTES, ReadOptions, ValueMeta};

use crate::value::{DiskValue, MemoryValue};

pub(crate) struct ValueCache {
    shards: Vec<Mutex<Shard>>,
    hasher: RandomState,
    /// Bytes per shard.
    room: usize,
    /// In bytes.
    largest: usize,
}

#[derive(Default)]
struct Shard {
    copies: HashMap<Box<[u8]>, Entry>,
    turns: VecDeque<ClockSlot>,
    /// Of entries whose value is on disk only.
    shelved_turns: VecDeque<ClockSlot>,
    next: u64,
    bytes: usize,
    /// Of entries whose value is on disk only.
    shelved_bytes: usize,
    writes: u64,
    is_closed: bool,
}

/// A key, and the number that distinguishes its entry from earlier entries of the same key.
type ClockSlot = (Box<[u8]>, u64);

/// The version of the deletion, if known.
#[derive(Debug, Clone)]
pub(crate) enum CachedState {
    Value(Arc<MemoryValue>),
    Shelved(Arc<DiskValue>),
    Absent(Option<Arc<str>>),
}

#[derive(Debug, Clone)]
pub(crate) struct Lookup {
    pub(crate) known: CachedState,
    pub(crate) age: Duration,
    /// Never [`Use::Never`].
    pub(crate) usage: CopyUse,
}

impl CachedState {
    pub(crate) fn version(&self) -> Option<&str> {
        match self {
            Self::Value(held) => Some(&held.version),
            Self::Shelved(shelved) => Some(&shelved.version),
            Self::Absent(version) => version.as_deref(),
        }
    }

    pub(crate) fn about(&self) -> Option<&ValueMeta> {
        match self {
            Self::Value(held) => Some(&held.about),
            Self::Shelved(shelved) => Some(&shelved.about),
            Self::Absent(_) => None,
        }
    }

    pub(crate) fn is_negative(&self) -> bool {
        matches!(self, Self::Absent(_))
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Value(held) => held.bytes(),
            Self::Shelved(shelved) => shelved.bytes(),
            Self::Absent(version) => version.as_ref().map_or(0, |version| version.len()),
        }
    }
}

struct Entry {
    known: CachedState,
    /// `None` if only the version of a write is known.
    copy: Option<CopyAge>,
    number: u64,
    is_used: bool,
    is_shelved: bool,
}

impl Entry {
    fn shelved(&self) -> Option<CachedState> {
        let CachedState::Value(held) = &self.known else { return None };
        let shelved = DiskValue { about: held.about.clone(), version: held.version.clone() };
        self.is_shelved.then(|| CachedState::Shelved(Arc::new(shelved)))
    }
}

/// The state of a shard when a reader started to read a key.
#[derive(Debug, Clone, std::marker::Copy)]
pub(crate) struct ReadTicket(u64);

#[derive(Debug, Clone)]
pub(crate) struct Name {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Name {
    pub(crate) fn of(namespace: &str, key: &str) -> Self {
        let mut bytes = [0; LONGEST];
        let length = (namespace.len() + 1 + key.len()).min(LONGEST);
        let parts = namespace.bytes().chain([0]).chain(key.bytes());
        bytes.iter_mut().zip(parts).for_each(|(to, byte)| *to = byte);
        Self { bytes, length }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl ValueCache {
    pub(crate) fn new(bytes: u64) -> Self {
        let room = usize::try_from(bytes).unwrap_or(usize::MAX) / SHARDS;
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Self { shards, hasher: RandomState::new(), room, largest: LARGEST_COPY }
    }

    pub(crate) fn of_far_store(self) -> Self {
        Self { largest: (self.room / 4).max(LARGEST_COPY.min(self.room)), ..self }
    }

    pub(crate) fn largest(&self) -> usize {
        self.largest
    }

    /// Also returns the age, and whether it is due for a refresh. Only copies that are valid
    /// without a request to the store.
    pub(crate) fn find_value(
        &self,
        name: &Name,
        wanted: ReadOptions,
        now: Duration,
    ) -> Option<(Arc<MemoryValue>, Duration, bool)> {
        let mut shard = self.shard(name);
        let entry = shard.copies.get_mut(name.as_bytes())?;
        let (CachedState::Value(held), Some(copy)) = (&entry.known, &mut entry.copy) else { return None };
        let is_due = match copy.judge(&FreshnessPolicy::default(), wanted, now) {
            CopyUse::AtOnce => false,
            CopyUse::AtOnceAndRefresh => true,
            CopyUse::UnlessAnswered | CopyUse::Never => return None,
        };
        entry.is_used = true;
        Some((Arc::clone(held), copy.age(now), is_due))
    }

    /// A due refresh is reported once.
    pub(crate) fn find(&self, name: &Name, wanted: ReadOptions, now: Duration) -> Option<Lookup> {
        let mut shard = self.shard(name);
        let entry = shard.copies.get_mut(name.as_bytes())?;
        let copy = entry.copy.as_mut()?;
        let usage = copy.judge(&FreshnessPolicy::default(), wanted, now);
        if usage == CopyUse::Never {
            return None;
        }
        let age = copy.age(now);
        entry.is_used = true;
        Some(Lookup { known: entry.known.clone(), age, usage })
    }

    /// Does not mark the copy as used.
    pub(crate) fn look(&self, name: &Name, now: Duration) -> Option<Lookup> {
        let shard = self.shard(name);
        let entry = shard.copies.get(name.as_bytes())?;
        let copy = entry.copy.as_ref()?;
        let usage = copy.look(&FreshnessPolicy::default(), ReadOptions::default(), now);
        (usage != CopyUse::Never).then(|| Lookup { known: entry.known.clone(), age: copy.age(now), usage })
    }

    /// Regardless of its age.
    pub(crate) fn had(&self, name: &Name) -> Option<CachedState> {
        let shard = self.shard(name);
        let known = &shard.copies.get(name.as_bytes())?.known;
        (!known.is_negative()).then(|| known.clone())
    }

    pub(crate) fn version(&self, name: &Name) -> Option<Arc<str>> {
        let shard = self.shard(name);
        shard.copies.get(name.as_bytes())?.known.version().map(Arc::from)
    }

    /// Must be called before the key is read.
    pub(crate) fn ticket(&self, name: &Name) -> ReadTicket {
        ReadTicket(self.shard(name).writes)
    }

    /// Unless the key was written since, a newer version is known, or the value is too large.
    pub(crate) fn keep(&self, name: &Name, ticket: ReadTicket, held: &Arc<MemoryValue>, asked: Duration) {
        let mut shard = self.shard(name);
        let known = shard.copies.get(name.as_bytes()).and_then(|entry| entry.known.version());
        let is_old = known > Some(&*held.version);
        if shard.is_closed || shard.writes != ticket.0 || is_old || held.value.len() > self.largest {
            return;
        }
        shard.insert(name, CachedState::Value(Arc::clone(held)), Some(asked), self.room);
    }

    /// Unless a newer version is known here, except `but`, which was known when the store was
    /// requested. Returns whether the state is the newest.
    pub(crate) fn keep_newest(
        &self,
        name: &Name,
        known: &CachedState,
        asked: Duration,
        but: Option<&str>,
    ) -> bool {
        let mut shard = self.shard(name);
        if let Some(entry) = shard.copies.get(name.as_bytes()) {
            let version = entry.known.version();
            if version > known.version() && version != but {
                return false;
            }
            // If both have the same version, keep the later read.
            let is_later = entry.copy.as_ref().is_none_or(|copy| copy.asked() <= asked);
            if version == known.version() && !is_later {
                return true;
            }
        }
        let is_large = matches!(known, CachedState::Value(held) if held.value.len() > self.largest);
        if !shard.is_closed && !is_large {
            shard.insert(name, known.clone(), Some(asked), self.room);
        }
        true
    }

    /// Eviction then keeps its metadata and age.
    pub(crate) fn mark_shelved(&self, name: &Name, version: &str) {
        let mut shard = self.shard(name);
        let entry = shard.copies.get_mut(name.as_bytes());
        if let Some(entry) = entry.filter(|entry| entry.known.version() == Some(version)) {
            entry.is_shelved = true;
        }
    }

    pub(crate) fn bring_back(&self, name: &Name, held: &Arc<MemoryValue>) {
        let mut shard = self.shard(name);
        let entry = shard.copies.get(name.as_bytes());
        if entry.is_some_and(
            |entry| matches!(&entry.known, CachedState::Shelved(shelved) if shelved.version == held.version),
        ) {
            shard.turn_into(name.as_bytes(), CachedState::Value(Arc::clone(held)));
            shard.shrink(self.room);
        }
    }

    pub(crate) fn lost(&self, name: &Name) {
        let mut shard = self.shard(name);
        if matches!(shard.copies.get(name.as_bytes()), Some(Entry { known: CachedState::Shelved(_), .. })) {
            shard.remove(name.as_bytes());
        }
    }

    /// Older values are no longer kept.
    pub(crate) fn wrote(&self, name: &Name, version: &str) {
        let mut shard = self.shard(name);
        shard.writes += 1;
        let known = shard.copies.get(name.as_bytes());
        if shard.is_closed || known.is_some_and(|entry| entry.known.version() >= Some(version)) {
            return;
        }
        shard.insert(name, CachedState::Absent(Some(version.into())), None, self.room);
    }

    /// Its version is remembered.
    pub(crate) fn doubt(&self, name: &Name) {
        let mut shard = self.shard(name);
        shard.writes += 1;
        let entry = shard.copies.get(name.as_bytes());
        let version = entry.and_then(|entry| entry.known.version()).map(Arc::from);
        match version {
            Some(version) => shard.insert(name, CachedState::Absent(Some(version)), None, self.room),
            None => shard.remove(name.as_bytes()),
        }
    }

    pub(crate) fn forget_all(&self) {
        self.all(|shard| {
            *shard = Shard { is_closed: shard.is_closed, writes: shard.writes + 1, ..Shard::default() };
        });
    }

    pub(crate) fn forget(&self, name: &Name) {
        let mut shard = self.shard(name);
        shard.writes += 1;
        shard.remove(name.as_bytes());
    }

    /// Remembers a newer version of the other store.
    pub(crate) fn forget_older(&self, name: &Name, version: &str) {
        let is_newer = self.version(name).is_some_and(|known| &*known > version);
        if is_newer { self.doubt(name) } else { self.forget(name) }
    }

    /// Keeps no new copies, because another process writes.
    pub(crate) fn close(&self) {
        self.all(|shard| *shard = Shard { is_closed: true, writes: shard.writes, ..Shard::default() });
    }

    pub(crate) fn open(&self) {
        // Tickets from before are invalid: they do not cover writes of the other process.
        self.all(|shard| *shard = Shard { writes: shard.writes + 1, ..Shard::default() });
    }

    pub(crate) fn bytes(&self) -> u64 {
        let mut bytes = 0;
        self.all(|shard| bytes += shard.bytes as u64);
        bytes
    }

    fn all(&self, mut work: impl FnMut(&mut Shard)) {
        for shard in &self.shards {
            work(&mut shard.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    fn shard(&self, name: &Name) -> MutexGuard<'_, Shard> {
        #[expect(clippy::cast_possible_truncation, reason = "any bits of a hash do")]
        let number = self.hasher.hash_one(name.as_bytes()) as usize % SHARDS;
        self.shards[number].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shard {
    fn insert(&mut self, name: &Name, known: CachedState, asked: Option<Duration>, room: usize) {
        let name = name.as_bytes();
        // Preserve the flag when the version is unchanged: the value is still on disk.
        let before = self.copies.get(name).filter(|before| before.known.version() == known.version());
        let is_shelved = before.is_some_and(|before| before.is_shelved);
        self.remove(name);
        let number = self.count(name, &known);
        let draw = number.wrapping_mul(0x9e37_79b9);
        let copy = asked.map(|asked| match known {
            CachedState::Value(_) | CachedState::Shelved(_) => CopyAge::of_value(asked, draw),
            CachedState::Absent(_) => CopyAge::of_absence(asked, draw),
        });
        let entry = Entry { known, copy, number, is_used: false, is_shelved };
        self.copies.insert(name.into(), entry);
        self.shrink(room);
    }

    fn remove(&mut self, name: &[u8]) {
        if let Some(entry) = self.copies.remove(name) {
            self.discount(name, &entry.known);
        }
    }

    fn turn_into(&mut self, name: &[u8], known: CachedState) {
        let Some(mut entry) = self.copies.remove(name) else { return };
        self.discount(name, &entry.known);
        entry.number = self.count(name, &known);
        (entry.known, entry.is_shelved) = (known, true);
        self.copies.insert(name.into(), entry);
    }

    fn count(&mut self, name: &[u8], known: &CachedState) -> u64 {
        self.next += 1;
        self.bytes += cost(name, known);
        let turns = if matches!(known, CachedState::Shelved(_)) {
            self.shelved_bytes += cost(name, known);
            &mut self.shelved_turns
        } else {
            &mut self.turns
        };
        turns.push_back((name.into(), self.next));
        self.next
    }

    fn discount(&mut self, name: &[u8], known: &CachedState) {
        self.bytes -= cost(name, known);
        if matches!(known, CachedState::Shelved(_)) {
            self.shelved_bytes -= cost(name, known);
        }
    }

    /// Next in turn, and not used since its last turn.
    fn unused(&mut self, turns: fn(&mut Self) -> &mut VecDeque<ClockSlot>) -> Option<Box<[u8]>> {
        while let Some((name, number)) = turns(self).pop_front() {
            let entry = self.copies.get_mut(&name).filter(|entry| entry.number == number);
            match entry.map(|entry| std::mem::take(&mut entry.is_used)) {
                Some(true) => turns(self).push_back((name, number)),
                Some(false) => return Some(name),
                None => {}
            }
        }
        None
    }

    /// Values that are also on disk are reduced to their metadata, which may take a quarter of the
    /// limit.
    fn shrink(&mut self, room: usize) {
        while self.bytes > room
            && let Some(name) = self.unused(|shard| &mut shard.turns)
        {
            match self.copies.get(&name).and_then(Entry::shelved) {
                Some(known) => self.turn_into(&name, known),
                None => self.remove(&name),
            }
        }
        while self.shelved_bytes > room / 4
            && let Some(name) = self.unused(|shard| &mut shard.shelved_turns)
        {
            self.remove(&name);
        }
        // Keys that are written and read alternately leave stale turns behind.
        let copies = &self.copies;
        for turns in [&mut self.turns, &mut self.shelved_turns] {
            if turns.len() > 2 * copies.len() + SPARE_TURNS {
                turns.retain(|(name, number)| copies.get(name).is_some_and(|entry| entry.number == *number));
            }
        }
    }
}

fn cost(name: &[u8], known: &CachedState) -> usize {
    2 * name.len() + known.bytes() + OVERHEAD
}

/// More than the number of concurrent readers.
const SHARDS: usize = 16;
/// A namespace's id, a zero byte and a key.
const LONGEST: usize = 64 + 1 + MOST_KEY_BYTES;
/// Reading a larger value from the file costs less than sending it to the client.
const LARGEST_COPY: usize = 64 << 10;
/// Of an entry in the map and the queue.
const OVERHEAD: usize = 256;
const SPARE_TURNS: usize = 64;

#[cfg(test)]
mod tests;
