//! What was not stored when it came last: its requests do not wait for one another, as each would have to ask anyway.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use cache::{Key, Time};

/// Keys of responses that were not stored.
#[derive(Debug, Default)]
pub(crate) struct Passing {
    until: Mutex<HashMap<Key, Time>>,
}

impl Passing {
    /// Requests for this key are passed on from now on.
    pub(crate) fn note(&self, key: &Key, now: Time) {
        let mut until = self.lock();
        if until.len() >= MOST {
            until.clear();
        }
        until.insert(key.clone(), now.after(MEMORY));
    }

    /// Whether requests for this key are passed on.
    pub(crate) fn holds(&self, key: &Key, now: Time) -> bool {
        self.lock().get(key).is_some_and(|end| now < *end)
    }

    /// What came for this key is stored again.
    pub(crate) fn forget(&self, key: &Key) {
        self.lock().remove(key);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Time>> {
        self.until.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long it is remembered: as long as Varnish does by default.
const MEMORY: Duration = Duration::from_secs(120);
/// Keys at once; of more, all are forgotten, and those that come again are noted again.
const MOST: usize = 65_536;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_passed_on_until_it_is_stored_or_forgotten() {
        let key = Key::of(&"http://a/".parse().unwrap(), &http::HeaderMap::new(), &cache::KeyRule::default());
        let (passing, now) = (Passing::default(), Time::from_millis(0));
        assert!(!passing.holds(&key, now));
        passing.note(&key, now);
        assert!(passing.holds(&key, now) && !passing.holds(&key, now.after(MEMORY)));
        passing.forget(&key);
        assert!(!passing.holds(&key, now));
    }
}
