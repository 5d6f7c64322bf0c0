//! Copies of values in memory, so that what is asked for again and again is not read from the file each time.
//!
//! Who reads a key from the store here takes a ticket first, and its copy is kept only if no write went by meanwhile: a copy is never older
//! than the last write that was acknowledged. Where the store is in another data centre, that there is no value is kept too, and of a key
//! that was written the version: what comes and is older is not kept. What room there is goes to copies that are used: each one in turn is
//! passed over once if it was. Of a value that is on disk as well, what goes first is the value, and what is known of it stays for another turn.

use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasher as _, RandomState},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use kv::{About, Copy, MOST_KEY_BYTES, Terms, Use, Wanted};

use crate::value::{Held, Shelved};

/// Copies of values.
pub(crate) struct Copies {
    shards: Vec<Mutex<Shard>>,
    hasher: RandomState,
    /// Bytes that each shard may have.
    room: usize,
    /// Bytes that a value may have.
    largest: usize,
}

#[derive(Default)]
struct Shard {
    copies: HashMap<Box<[u8]>, Entry>,
    turns: VecDeque<Turn>,
    /// Of what is known of values on disk alone.
    shelved_turns: VecDeque<Turn>,
    next: u64,
    bytes: usize,
    /// Of what is known of values on disk alone.
    shelved_bytes: usize,
    /// How many writes went by.
    writes: u64,
    is_closed: bool,
}

/// A key's, with the number that tells its entry from another one before it.
type Turn = (Box<[u8]>, u64);

/// What is known of a key.
#[derive(Debug, Clone)]
pub(crate) enum Known {
    /// A value.
    Value(Arc<Held>),
    /// A value that is on disk.
    Shelved(Arc<Shelved>),
    /// That there is none, and since which version, if anything is known of that.
    Absent(Option<Arc<str>>),
}

/// A copy, and what to do with it.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) known: Known,
    pub(crate) age: Duration,
    /// Not [`Use::Never`].
    pub(crate) usage: Use,
}

impl Known {
    pub(crate) fn version(&self) -> Option<&str> {
        match self {
            Self::Value(held) => Some(&held.version),
            Self::Shelved(shelved) => Some(&shelved.version),
            Self::Absent(version) => version.as_deref(),
        }
    }

    /// What is known of the value, if there is one.
    pub(crate) fn about(&self) -> Option<&About> {
        match self {
            Self::Value(held) => Some(&held.about),
            Self::Shelved(shelved) => Some(&shelved.about),
            Self::Absent(_) => None,
        }
    }

    /// Whether it is that there is no value.
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
    known: Known,
    /// `None` if only the version is known: that of a write.
    copy: Option<Copy>,
    number: u64,
    is_used: bool,
    /// Whether the value is on disk as well.
    is_shelved: bool,
}

impl Entry {
    /// What is known of it without its value, if that is on disk as well.
    fn shelved(&self) -> Option<Known> {
        let Known::Value(held) = &self.known else { return None };
        let shelved = Shelved { about: held.about.clone(), version: held.version.clone() };
        self.is_shelved.then(|| Known::Shelved(Arc::new(shelved)))
    }
}

/// When somebody began to read a key.
#[derive(Debug, Clone, std::marker::Copy)]
pub(crate) struct Ticket(u64);

/// A namespace and a key.
#[derive(Debug, Clone)]
pub(crate) struct Name {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Name {
    /// Of a namespace's id and a key's name.
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

impl Copies {
    /// Copies with so many bytes in all.
    pub(crate) fn new(bytes: u64) -> Self {
        let room = usize::try_from(bytes).unwrap_or(usize::MAX) / SHARDS;
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Self { shards, hasher: RandomState::new(), room, largest: LARGEST_COPY }
    }

    /// The same where the store is far away, so that larger values are worth their room too.
    pub(crate) fn of_far_store(self) -> Self {
        Self { largest: (self.room / 4).max(LARGEST_COPY.min(self.room)), ..self }
    }

    /// Bytes of the largest value that is kept.
    pub(crate) fn largest(&self) -> usize {
        self.largest
    }

    /// The value of a key, its age, and whether it is to be asked for again beside that, if there is one that is the answer whoever else
    /// could be asked.
    pub(crate) fn find_value(
        &self,
        name: &Name,
        wanted: Wanted,
        now: Duration,
    ) -> Option<(Arc<Held>, Duration, bool)> {
        let mut shard = self.shard(name);
        let entry = shard.copies.get_mut(name.as_bytes())?;
        let (Known::Value(held), Some(copy)) = (&entry.known, &mut entry.copy) else { return None };
        let is_due = match copy.judge(&Terms::default(), wanted, now) {
            Use::AtOnce => false,
            Use::AtOnceAndRefresh => true,
            Use::UnlessAnswered | Use::Never => return None,
        };
        entry.is_used = true;
        Some((Arc::clone(held), copy.age(now), is_due))
    }

    /// The copy of a key, if it may be the answer. Says once that it is to be asked for again.
    pub(crate) fn find(&self, name: &Name, wanted: Wanted, now: Duration) -> Option<Seen> {
        let mut shard = self.shard(name);
        let entry = shard.copies.get_mut(name.as_bytes())?;
        let copy = entry.copy.as_mut()?;
        let usage = copy.judge(&Terms::default(), wanted, now);
        if usage == Use::Never {
            return None;
        }
        let age = copy.age(now);
        entry.is_used = true;
        Some(Seen { known: entry.known.clone(), age, usage })
    }

    /// The same for somebody who only looks.
    pub(crate) fn look(&self, name: &Name, now: Duration) -> Option<Seen> {
        let shard = self.shard(name);
        let entry = shard.copies.get(name.as_bytes())?;
        let copy = entry.copy.as_ref()?;
        let usage = copy.look(&Terms::default(), Wanted::default(), now);
        (usage != Use::Never).then(|| Seen { known: entry.known.clone(), age: copy.age(now), usage })
    }

    /// The value of a key, however old it is.
    pub(crate) fn had(&self, name: &Name) -> Option<Known> {
        let shard = self.shard(name);
        let known = &shard.copies.get(name.as_bytes())?.known;
        (!known.is_negative()).then(|| known.clone())
    }

    /// The newest version that is known of a key.
    pub(crate) fn version(&self, name: &Name) -> Option<Arc<str>> {
        let shard = self.shard(name);
        shard.copies.get(name.as_bytes())?.known.version().map(Arc::from)
    }

    /// To be taken before a key is read.
    pub(crate) fn ticket(&self, name: &Name) -> Ticket {
        Ticket(self.shard(name).writes)
    }

    /// Keeps what was read since, if nothing was written meanwhile, nothing newer is known and it is not too large.
    pub(crate) fn keep(&self, name: &Name, ticket: Ticket, held: &Arc<Held>, asked: Duration) {
        let mut shard = self.shard(name);
        let known = shard.copies.get(name.as_bytes()).and_then(|entry| entry.known.version());
        let is_old = known > Some(&*held.version);
        if shard.is_closed || shard.writes != ticket.0 || is_old || held.value.len() > self.largest {
            return;
        }
        shard.insert(name, Known::Value(Arc::clone(held)), Some(asked), self.room);
    }

    /// Keeps what somebody else knew at this time, unless a newer version is known here. `but` is one that does not count: the store itself
    /// was asked when that was known already. Returns whether it is the newest.
    pub(crate) fn keep_newest(&self, name: &Name, known: &Known, asked: Duration, but: Option<&str>) -> bool {
        let mut shard = self.shard(name);
        if let Some(entry) = shard.copies.get(name.as_bytes()) {
            let version = entry.known.version();
            if version > known.version() && version != but {
                return false;
            }
            // Of two copies of one version the one that was read later is worth more.
            let is_later = entry.copy.as_ref().is_none_or(|copy| copy.asked() <= asked);
            if version == known.version() && !is_later {
                return true;
            }
        }
        let is_large = matches!(known, Known::Value(held) if held.value.len() > self.largest);
        if !shard.is_closed && !is_large {
            shard.insert(name, known.clone(), Some(asked), self.room);
        }
        true
    }

    /// A value of this version is on disk: when there is no room for it in memory, that and how old it is stays known.
    pub(crate) fn mark_shelved(&self, name: &Name, version: &str) {
        let mut shard = self.shard(name);
        let entry = shard.copies.get_mut(name.as_bytes());
        if let Some(entry) = entry.filter(|entry| entry.known.version() == Some(version)) {
            entry.is_shelved = true;
        }
    }

    /// A value was read from disk, and is in memory from now on.
    pub(crate) fn bring_back(&self, name: &Name, held: &Arc<Held>) {
        let mut shard = self.shard(name);
        let entry = shard.copies.get(name.as_bytes());
        if entry.is_some_and(
            |entry| matches!(&entry.known, Known::Shelved(shelved) if shelved.version == held.version),
        ) {
            shard.turn_into(name.as_bytes(), Known::Value(Arc::clone(held)));
            shard.shrink(self.room);
        }
    }

    /// A value is not on disk any more.
    pub(crate) fn lost(&self, name: &Name) {
        let mut shard = self.shard(name);
        if matches!(shard.copies.get(name.as_bytes()), Some(Entry { known: Known::Shelved(_), .. })) {
            shard.remove(name.as_bytes());
        }
    }

    /// A key was written with this version: nothing older is kept any more.
    pub(crate) fn wrote(&self, name: &Name, version: &str) {
        let mut shard = self.shard(name);
        shard.writes += 1;
        let known = shard.copies.get(name.as_bytes());
        if shard.is_closed || known.is_some_and(|entry| entry.known.version() >= Some(version)) {
            return;
        }
        shard.insert(name, Known::Absent(Some(version.into())), None, self.room);
    }

    /// A key may have been written: its copy is none any more, and its version is still known.
    pub(crate) fn doubt(&self, name: &Name) {
        let mut shard = self.shard(name);
        shard.writes += 1;
        let entry = shard.copies.get(name.as_bytes());
        let version = entry.and_then(|entry| entry.known.version()).map(Arc::from);
        match version {
            Some(version) => shard.insert(name, Known::Absent(Some(version)), None, self.room),
            None => shard.remove(name.as_bytes()),
        }
    }

    /// Any key may have been written.
    pub(crate) fn forget_all(&self) {
        self.all(|shard| {
            *shard = Shard { is_closed: shard.is_closed, writes: shard.writes + 1, ..Shard::default() };
        });
    }

    /// A key was written: what was read before is not kept any more.
    pub(crate) fn forget(&self, name: &Name) {
        let mut shard = self.shard(name);
        shard.writes += 1;
        shard.remove(name.as_bytes());
    }

    /// The same, unless the other one of two stores was heard to know something newer than this version: that stays known.
    pub(crate) fn forget_older(&self, name: &Name, version: &str) {
        let is_newer = self.version(name).is_some_and(|known| &*known > version);
        if is_newer { self.doubt(name) } else { self.forget(name) }
    }

    /// Keeps nothing from now on, as another process writes.
    pub(crate) fn close(&self) {
        self.all(|shard| *shard = Shard { is_closed: true, writes: shard.writes, ..Shard::default() });
    }

    /// Keeps copies again.
    pub(crate) fn open(&self) {
        // Whoever began to read before does not know what was written since.
        self.all(|shard| *shard = Shard { writes: shard.writes + 1, ..Shard::default() });
    }

    /// Bytes of all copies.
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
    fn insert(&mut self, name: &Name, known: Known, asked: Option<Duration>, room: usize) {
        let name = name.as_bytes();
        // What is on disk stays there, and a copy of the same version is as good as the one before.
        let before = self.copies.get(name).filter(|before| before.known.version() == known.version());
        let is_shelved = before.is_some_and(|before| before.is_shelved);
        self.remove(name);
        let number = self.count(name, &known);
        let draw = number.wrapping_mul(0x9e37_79b9);
        let copy = asked.map(|asked| match known {
            Known::Value(_) | Known::Shelved(_) => Copy::of_value(asked, draw),
            Known::Absent(_) => Copy::of_absence(asked, draw),
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

    /// Knows the same copy otherwise: its value has left memory, or is back.
    fn turn_into(&mut self, name: &[u8], known: Known) {
        let Some(mut entry) = self.copies.remove(name) else { return };
        self.discount(name, &entry.known);
        entry.number = self.count(name, &known);
        (entry.known, entry.is_shelved) = (known, true);
        self.copies.insert(name.into(), entry);
    }

    /// Has room taken, and a turn.
    fn count(&mut self, name: &[u8], known: &Known) -> u64 {
        self.next += 1;
        self.bytes += cost(name, known);
        let turns = if matches!(known, Known::Shelved(_)) {
            self.shelved_bytes += cost(name, known);
            &mut self.shelved_turns
        } else {
            &mut self.turns
        };
        turns.push_back((name.into(), self.next));
        self.next
    }

    fn discount(&mut self, name: &[u8], known: &Known) {
        self.bytes -= cost(name, known);
        if matches!(known, Known::Shelved(_)) {
            self.shelved_bytes -= cost(name, known);
        }
    }

    /// The next one in turn that was not used since its last turn.
    fn unused(&mut self, turns: fn(&mut Self) -> &mut VecDeque<Turn>) -> Option<Box<[u8]>> {
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

    /// Gives up what is over the room: first values of which it stays known what they are, where they are on disk, and of those that are known so what
    /// is over a quarter of it.
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
        // A key that is written and read by turns leaves a turn each time.
        let copies = &self.copies;
        for turns in [&mut self.turns, &mut self.shelved_turns] {
            if turns.len() > 2 * copies.len() + SPARE_TURNS {
                turns.retain(|(name, number)| copies.get(name).is_some_and(|entry| entry.number == *number));
            }
        }
    }
}

fn cost(name: &[u8], known: &Known) -> usize {
    2 * name.len() + known.bytes() + OVERHEAD
}

/// More than threads that look at the same time.
const SHARDS: usize = 16;
/// An id, a zero and a key.
const LONGEST: usize = 64 + 1 + MOST_KEY_BYTES;
/// Larger values are read from the file each time, which costs less than their way to the reader.
const LARGEST_COPY: usize = 64 << 10;
/// Of an entry, in the map and in turn.
const OVERHEAD: usize = 256;
const SPARE_TURNS: usize = 64;

#[cfg(test)]
mod tests;
