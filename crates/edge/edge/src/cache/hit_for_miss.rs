//! Hit-for-miss: keys whose last response was not stored. Their requests are not collapsed, because
//! each needs its own response.

use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasher, RandomState},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

use http_cache::{Key, Time, U64Hasher};

/// Keys are hashed, because clients control their length.
#[derive(Debug, Default)]
pub(crate) struct HitForMiss {
    secret: RandomState,
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    by_hash: HashMap<u64, Arc<HitForMissEntry>, U64Hasher>,
    oldest: VecDeque<u64>,
}

#[derive(Debug)]
pub(crate) struct HitForMissEntry {
    until: Time,
    has_ended: AtomicBool,
    /// The greatest number of a request whose response was passed without a lookup in the store.
    answered: AtomicU64,
}

impl HitForMissEntry {
    fn ending_at(until: Time) -> Self {
        Self { until, has_ended: AtomicBool::new(false), answered: AtomicU64::new(0) }
    }

    pub(crate) fn is_active(&self, now: Time) -> bool {
        now < self.until && !self.has_ended.load(SeqCst)
    }

    /// Returns false if the entry has ended: an object may have been stored since the request was
    /// sent.
    pub(crate) fn record_response(&self, number: u64, now: Time) -> bool {
        self.answered.fetch_max(number, SeqCst);
        self.is_active(now)
    }
}

impl HitForMiss {
    pub(crate) fn insert(&self, key: &Key, now: Time) {
        let hash = self.hash(key);
        let mut entries = self.lock();
        // Replacing an active entry would leave its holders with an entry that never ends early.
        if entries.by_hash.get(&hash).is_some_and(|entry| entry.is_active(now)) {
            return;
        }
        entries.remove_ended(now);
        if entries
            .by_hash
            .insert(hash, Arc::new(HitForMissEntry::ending_at(now.after(ENTRY_LIFETIME))))
            .is_none()
        {
            entries.oldest.push_back(hash);
        }
    }

    pub(crate) fn get(&self, key: &Key, now: Time) -> Option<Arc<HitForMissEntry>> {
        let hash = self.hash(key);
        self.lock().by_hash.get(&hash).filter(|entry| entry.is_active(now)).cloned()
    }

    /// Requests for the key are collapsed again.
    pub(crate) fn remove(&self, key: &Key) {
        let hash = self.hash(key);
        if let Some(entry) = self.lock().by_hash.get(&hash) {
            entry.has_ended.store(true, SeqCst);
        }
    }

    /// Called after a response was stored. Returns whether a response to a request with a greater
    /// number has been passed already.
    pub(crate) fn renew(&self, key: &Key, number: u64) -> bool {
        let hash = self.hash(key);
        let mut entries = self.lock();
        let Some(previous) = entries.by_hash.get_mut(&hash).filter(|entry| !entry.has_ended.load(SeqCst))
        else {
            return false;
        };
        let renewed = Arc::new(HitForMissEntry::ending_at(previous.until));
        let previous = std::mem::replace(previous, renewed);
        previous.has_ended.store(true, SeqCst);
        previous.answered.load(SeqCst) > number
    }

    fn hash(&self, key: &Key) -> u64 {
        self.secret.hash_one(key.as_str())
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn remove_ended(&mut self, now: Time) {
        while let Some(hash) = self.oldest.front() {
            let holds = self.by_hash.get(hash).is_some_and(|entry| entry.is_active(now));
            if holds && self.oldest.len() < MAX_ENTRIES {
                break;
            }
            if let Some(entry) = self.by_hash.remove(hash) {
                entry.has_ended.store(true, SeqCst);
            }
            self.oldest.pop_front();
        }
    }
}

/// The default of Varnish.
const ENTRY_LIFETIME: Duration = Duration::from_secs(120);
const MAX_ENTRIES: usize = 65_536;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_is_active_until_removed_or_expired() {
        let key = Key::of(
            &"http://a/".parse().unwrap(),
            &http_stack::HeaderMap::new(),
            &http_cache::KeyRule::default(),
        );
        let (hit_for_miss, now) = (HitForMiss::default(), Time::from_millis(0));
        let holds = |now| hit_for_miss.get(&key, now).is_some();
        assert!(!holds(now));
        hit_for_miss.insert(&key, now);
        assert!(holds(now) && !holds(now.after(ENTRY_LIFETIME)));
        let entry = hit_for_miss.get(&key, now).unwrap();
        assert!(entry.is_active(now) && !entry.is_active(now.after(ENTRY_LIFETIME)));
        hit_for_miss.insert(&key, now);
        hit_for_miss.remove(&key);
        assert!(!holds(now) && !entry.is_active(now));
    }

    #[test]
    fn entries_expire_and_are_bounded() {
        let key = |number: usize| {
            let url = format!("http://a/{number}").parse().unwrap();
            Key::of(&url, &http_stack::HeaderMap::new(), &http_cache::KeyRule::default())
        };
        let (hit_for_miss, now) = (HitForMiss::default(), Time::from_millis(0));
        (0..=MAX_ENTRIES).for_each(|number| hit_for_miss.insert(&key(number), now));
        let held = |number| hit_for_miss.get(&key(number), now).is_some();
        assert_eq!([0, 1, MAX_ENTRIES].map(held), [false, true, true]);
        hit_for_miss.insert(&key(0), now.after(ENTRY_LIFETIME));
        let entries = hit_for_miss.lock();
        assert_eq!((entries.by_hash.len(), entries.oldest.len()), (1, 1));
    }

    #[test]
    fn storing_renews_the_entry() {
        let key = Key::of(
            &"http://a/".parse().unwrap(),
            &http_stack::HeaderMap::new(),
            &http_cache::KeyRule::default(),
        );
        let (hit_for_miss, now) = (HitForMiss::default(), Time::from_millis(0));
        assert!(!hit_for_miss.renew(&key, 1));
        hit_for_miss.insert(&key, now);
        let entry = hit_for_miss.get(&key, now).unwrap();
        assert!(entry.record_response(5, now));
        // The response to request 4 is stored after the response to request 5 was passed.
        assert!(hit_for_miss.renew(&key, 4));
        assert!(!entry.record_response(6, now));
        let renewed = hit_for_miss.get(&key, now).unwrap();
        assert!(renewed.is_active(now) && !renewed.is_active(now.after(ENTRY_LIFETIME)));
        assert!(!hit_for_miss.renew(&key, 4));
    }
}
