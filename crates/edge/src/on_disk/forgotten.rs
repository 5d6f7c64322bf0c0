//! Objects on disk that have been replaced: lookups skip them until the writer removes them.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use ::disk::{Id, Store};
use cache::{Key, Spread};
use http::HeaderMap;

use super::{coded, head};

/// Selects the objects of a key for a request with this header.
pub(super) struct Forgotten {
    pub(super) key: Key,
    request: HeaderMap,
}

/// The number of pending removals, by key.
#[derive(Default)]
pub(super) struct AllForgotten {
    waiting: Mutex<HashMap<Key, usize, Spread>>,
    /// The number of keys, so that lookups take no lock while no removal is pending.
    count: AtomicUsize,
}

impl Forgotten {
    pub(super) fn remove(&self, store: &Store) -> Result<(), ::disk::Error> {
        self.remove_but(store, None)
    }

    /// Removes all selected objects except `kept`.
    pub(super) fn remove_but(&self, store: &Store, kept: Option<Id>) -> Result<(), ::disk::Error> {
        let key = &self.key;
        for found in store.find(key.as_str().as_bytes())?.into_iter().filter(|found| Some(found.id) != kept) {
            let object = head::read(&found.head, key, &[], Arc::default());
            if object.is_some_and(|object| object.stored.selection.matches(&self.request)) {
                store.remove(found.id)?;
                coded::remove(store, key, found.id)?;
            }
        }
        Ok(())
    }
}

impl AllForgotten {
    pub(super) fn add(&self, key: &Key, request: &HeaderMap) -> Forgotten {
        let mut waiting = self.lock();
        *waiting.entry(key.clone()).or_default() += 1;
        self.count.store(waiting.len(), Relaxed);
        Forgotten { key: key.clone(), request: request.clone() }
    }

    /// Whether a removal for the key is pending. Lookups then return no variant of it; at worst a request
    /// goes to the origin.
    pub(super) fn has(&self, key: &Key) -> bool {
        self.count.load(Relaxed) > 0 && self.lock().contains_key(key)
    }

    /// Completes one removal for this key.
    pub(super) fn is_done(&self, key: &Key) {
        let mut waiting = self.lock();
        if let Some(count) = waiting.get_mut(key) {
            *count -= 1;
            if *count == 0 {
                waiting.remove(key);
            }
        }
        self.count.store(waiting.len(), Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, usize, Spread>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use cache::KeyRule;

    use super::*;

    #[test]
    fn a_key_is_found_again_once_all_its_removals_are_done() {
        let key = |path: &str| {
            Key::of(&format!("http://a{path}").parse().unwrap(), &HeaderMap::new(), &KeyRule::default())
        };
        let all = AllForgotten::default();
        let (first, second) = (all.add(&key("/"), &HeaderMap::new()), all.add(&key("/"), &HeaderMap::new()));
        assert!(all.has(&key("/")) && !all.has(&key("/other")));
        all.is_done(&first.key);
        assert!(all.has(&key("/")));
        all.is_done(&second.key);
        assert!(!all.has(&key("/")));
    }
}
