//! Hit-for-miss: keys whose last response was not stored. Their requests are not collapsed, because each
//! needs its own response.

use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasher, RandomState},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

use cache::{Key, Spread, Time};

/// The hit-for-miss keys, by hash, because clients control the length of a key.
#[derive(Debug, Default)]
pub(crate) struct Passing {
    secret: RandomState,
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    passed: HashMap<u64, Arc<Passed>, Spread>,
    /// In the order of insertion.
    oldest: VecDeque<u64>,
}

#[derive(Debug)]
pub(crate) struct Passed {
    until: Time,
    /// Set when an object is stored with this key, or the entry is removed.
    is_over: AtomicBool,
    /// The greatest number of a request whose response was passed without a lookup in the store.
    answered: AtomicU64,
}

impl Passed {
    fn until(until: Time) -> Self {
        Self { until, is_over: AtomicBool::new(false), answered: AtomicU64::new(0) }
    }

    /// Whether requests for this key are still passed.
    pub(crate) fn holds(&self, now: Time) -> bool {
        now < self.until && !self.is_over.load(SeqCst)
    }

    /// Records a response that is passed without a lookup in the store. Returns false if the entry has ended:
    /// an object may have been stored since the request was sent.
    pub(crate) fn record_response(&self, number: u64, now: Time) -> bool {
        self.answered.fetch_max(number, SeqCst);
        self.holds(now)
    }
}

impl Passing {
    /// Passes requests for this key from now on.
    pub(crate) fn note(&self, key: &Key, now: Time) {
        let hash = self.hash(key);
        let mut entries = self.lock();
        // Replacing an active entry would leave its holders with an entry that never ends early.
        if entries.passed.get(&hash).is_some_and(|passed| passed.holds(now)) {
            return;
        }
        entries.remove_ended(now);
        if entries.passed.insert(hash, Arc::new(Passed::until(now.after(MEMORY)))).is_none() {
            entries.oldest.push_back(hash);
        }
    }

    pub(crate) fn of(&self, key: &Key, now: Time) -> Option<Arc<Passed>> {
        let hash = self.hash(key);
        self.lock().passed.get(&hash).filter(|passed| passed.holds(now)).cloned()
    }

    /// Ends the entry of a key: its requests are collapsed again.
    pub(crate) fn forget(&self, key: &Key) {
        let hash = self.hash(key);
        if let Some(passed) = self.lock().passed.get(&hash) {
            passed.is_over.store(true, SeqCst);
        }
    }

    /// Replaces the entry of a key after a response was stored, so that later requests are looked up in the
    /// store first. Returns whether a response to a request with a greater number has been passed already.
    pub(crate) fn renew(&self, key: &Key, number: u64) -> bool {
        let hash = self.hash(key);
        let mut entries = self.lock();
        let Some(before) = entries.passed.get_mut(&hash).filter(|passed| !passed.is_over.load(SeqCst)) else {
            return false;
        };
        let renewed = Arc::new(Passed::until(before.until));
        let before = std::mem::replace(before, renewed);
        before.is_over.store(true, SeqCst);
        before.answered.load(SeqCst) > number
    }

    fn hash(&self, key: &Key) -> u64 {
        self.secret.hash_one(key.as_str())
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    /// Removes ended entries, oldest first. At the limit it removes the oldest entry even if it is active.
    fn remove_ended(&mut self, now: Time) {
        while let Some(hash) = self.oldest.front() {
            let holds = self.passed.get(hash).is_some_and(|passed| passed.holds(now));
            if holds && self.oldest.len() < MOST {
                break;
            }
            if let Some(passed) = self.passed.remove(hash) {
                passed.is_over.store(true, SeqCst);
            }
            self.oldest.pop_front();
        }
    }
}

/// The lifetime of an entry; the default of Varnish.
const MEMORY: Duration = Duration::from_secs(120);
/// The oldest entry is removed first.
const MOST: usize = 65_536;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_passed_on_until_it_is_stored_or_forgotten() {
        let key = Key::of(&"http://a/".parse().unwrap(), &http::HeaderMap::new(), &cache::KeyRule::default());
        let (passing, now) = (Passing::default(), Time::from_millis(0));
        let holds = |now| passing.of(&key, now).is_some();
        assert!(!holds(now));
        passing.note(&key, now);
        assert!(holds(now) && !holds(now.after(MEMORY)));
        let passed = passing.of(&key, now).unwrap();
        assert!(passed.holds(now) && !passed.holds(now.after(MEMORY)));
        // The second note keeps the entry, so that its holders see it end.
        passing.note(&key, now);
        passing.forget(&key);
        assert!(!holds(now) && !passed.holds(now));
    }

    #[test]
    fn entries_end_and_are_bounded() {
        let key = |number: usize| {
            let url = format!("http://a/{number}").parse().unwrap();
            Key::of(&url, &http::HeaderMap::new(), &cache::KeyRule::default())
        };
        let (passing, now) = (Passing::default(), Time::from_millis(0));
        (0..=MOST).for_each(|number| passing.note(&key(number), now));
        let held = |number| passing.of(&key(number), now).is_some();
        assert_eq!([0, 1, MOST].map(held), [false, true, true]);
        passing.note(&key(0), now.after(MEMORY));
        let entries = passing.lock();
        assert_eq!((entries.passed.len(), entries.oldest.len()), (1, 1));
    }

    #[test]
    fn an_entry_is_renewed_when_something_is_stored() {
        let key = Key::of(&"http://a/".parse().unwrap(), &http::HeaderMap::new(), &cache::KeyRule::default());
        let (passing, now) = (Passing::default(), Time::from_millis(0));
        assert!(!passing.renew(&key, 1));
        passing.note(&key, now);
        let passed = passing.of(&key, now).unwrap();
        assert!(passed.record_response(5, now));
        // The response to request 4 is stored after the response to request 5 was passed.
        assert!(passing.renew(&key, 4));
        assert!(!passed.record_response(6, now));
        let renewed = passing.of(&key, now).unwrap();
        assert!(renewed.holds(now) && !renewed.holds(now.after(MEMORY)));
        assert!(!passing.renew(&key, 4));
    }
}
