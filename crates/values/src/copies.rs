//! Copies of values in memory, so that what is asked for again and again is not read from the file each time.
//!
//! Who reads a key takes a ticket first, and its copy is kept only if no write went by meanwhile: a copy is never older than the last
//! write that was acknowledged. What room there is goes to copies that are used: each one in turn is passed over once if it was.

use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasher as _, RandomState},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use kv::{Copy, MOST_KEY_BYTES, Terms, Use};

use crate::value::Held;

/// Copies of values.
pub(crate) struct Copies {
    shards: Vec<Mutex<Shard>>,
    hasher: RandomState,
    /// Bytes that each shard may have.
    room: usize,
}

#[derive(Default)]
struct Shard {
    copies: HashMap<Box<[u8]>, Entry>,
    /// In turn, with the number that tells an entry from another one of the same key before it.
    turns: VecDeque<(Box<[u8]>, u64)>,
    next: u64,
    bytes: usize,
    /// How many writes went by.
    writes: u64,
    is_closed: bool,
}

struct Entry {
    held: Arc<Held>,
    copy: Copy,
    number: u64,
    is_used: bool,
}

/// When somebody began to read a key.
#[derive(Debug, Clone, std::marker::Copy)]
pub(crate) struct Ticket(u64);

/// A namespace and a key.
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

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl Copies {
    /// Copies with so many bytes in all.
    pub(crate) fn new(bytes: u64) -> Self {
        let room = usize::try_from(bytes).unwrap_or(usize::MAX) / SHARDS;
        Self { shards: (0..SHARDS).map(|_| Mutex::default()).collect(), hasher: RandomState::new(), room }
    }

    /// The copy of a key, its age, and whether it is time to read the key again beside this.
    pub(crate) fn find(
        &self,
        name: &Name,
        cache_ttl: Option<Duration>,
        now: Duration,
    ) -> Option<(Arc<Held>, Duration, bool)> {
        let mut shard = self.shard(name);
        let entry = shard.copies.get_mut(name.as_bytes())?;
        let is_due = match entry.copy.judge(&Terms::default(), cache_ttl, now) {
            Use::AtOnce => false,
            Use::AtOnceAndRefresh => true,
            Use::UnlessAnswered | Use::Never => return None,
        };
        entry.is_used = true;
        Some((Arc::clone(&entry.held), entry.copy.age(now), is_due))
    }

    /// To be taken before a key is read.
    pub(crate) fn ticket(&self, name: &Name) -> Ticket {
        Ticket(self.shard(name).writes)
    }

    /// Keeps what was read since, if nothing was written meanwhile and it is not too large.
    pub(crate) fn keep(&self, name: &Name, ticket: Ticket, held: &Arc<Held>, asked: Duration) {
        let mut shard = self.shard(name);
        if shard.is_closed || shard.writes != ticket.0 || held.value.len() > LARGEST_COPY {
            return;
        }
        shard.remove(name.as_bytes());
        shard.next += 1;
        let number = shard.next;
        shard.bytes += cost(name.as_bytes(), held);
        let copy = Copy::of_value(asked, number.wrapping_mul(0x9e37_79b9));
        let entry = Entry { held: Arc::clone(held), copy, number, is_used: false };
        shard.copies.insert(name.as_bytes().into(), entry);
        shard.turns.push_back((name.as_bytes().into(), number));
        shard.shrink(self.room);
    }

    /// A key was written: what was read before is not kept any more.
    pub(crate) fn forget(&self, name: &Name) {
        let mut shard = self.shard(name);
        shard.writes += 1;
        shard.remove(name.as_bytes());
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
    fn remove(&mut self, name: &[u8]) {
        if let Some(entry) = self.copies.remove(name) {
            self.bytes -= cost(name, &entry.held);
        }
    }

    fn shrink(&mut self, room: usize) {
        while self.bytes > room
            && let Some((name, number)) = self.turns.pop_front()
        {
            let Some(entry) = self.copies.get_mut(&name).filter(|entry| entry.number == number) else {
                continue;
            };
            if std::mem::take(&mut entry.is_used) {
                self.turns.push_back((name, number));
            } else {
                self.remove(&name);
            }
        }
        // A key that is written and read by turns leaves a turn each time.
        if self.turns.len() > 2 * self.copies.len() + SPARE_TURNS {
            let copies = &self.copies;
            self.turns.retain(|(name, number)| copies.get(name).is_some_and(|entry| entry.number == *number));
        }
    }
}

fn cost(name: &[u8], held: &Held) -> usize {
    2 * name.len() + held.bytes() + OVERHEAD
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
mod tests {
    use super::*;

    fn held(bytes: usize) -> Arc<Held> {
        Arc::new(Held::test(vec![b'v'; bytes]))
    }

    fn name(key: &str) -> Name {
        Name::of("ns", key)
    }

    const NOW: Duration = Duration::from_secs(100);

    fn has(copies: &Copies, key: &str) -> bool {
        copies.find(&name(key), None, NOW).is_some()
    }

    fn keep(copies: &Copies, key: &str, bytes: usize) {
        copies.keep(&name(key), copies.ticket(&name(key)), &held(bytes), NOW);
    }

    #[test]
    fn what_was_read_before_a_write_is_not_kept_after_it() {
        let copies = Copies::new(1 << 20);
        let ticket = copies.ticket(&name("a"));
        copies.forget(&name("a"));
        copies.keep(&name("a"), ticket, &held(1), NOW);
        assert!(!has(&copies, "a"));
        keep(&copies, "a", 1);
        assert!(has(&copies, "a") && !has(&copies, "b"));
        copies.forget(&name("a"));
        assert!(!has(&copies, "a"));
        assert_eq!(copies.bytes(), 0);
    }

    #[test]
    fn nothing_is_kept_while_another_process_writes() {
        let copies = Copies::new(1 << 20);
        keep(&copies, "a", 1);
        let ticket = copies.ticket(&name("b"));
        copies.close();
        keep(&copies, "a", 1);
        assert!(!has(&copies, "a"));
        copies.open();
        copies.keep(&name("b"), ticket, &held(1), NOW);
        keep(&copies, "a", 1);
        assert!(has(&copies, "a") && !has(&copies, "b"));
    }

    #[test]
    fn room_goes_to_copies_that_are_used() {
        let copies = Copies::new(16 * 8000);
        keep(&copies, "used", 1000);
        for number in 0..2000 {
            assert!(has(&copies, "used"), "{number}");
            keep(&copies, &number.to_string(), 1000);
        }
        assert!(copies.bytes() <= 16 * 8000 && copies.bytes() > 16 * 4000, "{}", copies.bytes());
        keep(&copies, "large", LARGEST_COPY + 1);
        assert!(!has(&copies, "large"));
    }

    #[test]
    fn a_key_that_is_written_and_read_by_turns_leaves_nothing_behind() {
        let copies = Copies::new(1 << 20);
        for _ in 0..10_000 {
            keep(&copies, "a", 1);
            copies.forget(&name("a"));
        }
        let mut turns = 0;
        copies.all(|shard| turns += shard.turns.len());
        assert!(turns <= SPARE_TURNS + 1, "{turns}");
    }

    #[test]
    fn a_copy_is_read_again_before_it_is_a_minute_old() {
        let copies = Copies::new(1 << 20);
        keep(&copies, "a", 1);
        let find = |after, ttl: Option<u64>| {
            let now = NOW + Duration::from_secs(after);
            copies
                .find(&name("a"), ttl.map(Duration::from_secs), now)
                .map(|(_, age, is_due)| (age.as_secs(), is_due))
        };
        assert_eq!(find(41, None), Some((41, false)));
        assert_eq!(find(59, None), Some((59, true)));
        assert_eq!(find(60, None), None);
        assert_eq!(find(35, Some(30)), None);
    }
}
