//! Objects on disk that have been replaced: lookups skip them until the writer removes them.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use ::segment_store::{Id, Store};
use http_cache::{Key, U64Hasher};
use http_stack::HeaderMap;

use super::{object_head, variants};

pub(super) struct Removal {
    pub(super) key: Key,
    request: HeaderMap,
}

#[derive(Default)]
pub(super) struct PendingRemovals {
    pending: Mutex<HashMap<Key, usize, U64Hasher>>,
    /// The number of keys, so that lookups take no lock while no removal is pending.
    count: AtomicUsize,
}

impl Removal {
    pub(super) fn remove(&self, store: &Store) -> Result<(), ::segment_store::Error> {
        self.remove_except(store, None)
    }

    pub(super) fn remove_except(
        &self,
        store: &Store,
        except: Option<Id>,
    ) -> Result<(), ::segment_store::Error> {
        let key = &self.key;
        for found in store.find(key.as_str().as_bytes())?.into_iter().filter(|found| Some(found.id) != except)
        {
            let object = object_head::read(&found.head, key, &[], Arc::default());
            if object.is_some_and(|object| object.stored.selection.matches(&self.request)) {
                store.remove(found.id)?;
                variants::remove(store, key, found.id)?;
            }
        }
        Ok(())
    }
}

impl PendingRemovals {
    pub(super) fn add(&self, key: &Key, request: &HeaderMap) -> Removal {
        let mut pending = self.lock();
        *pending.entry(key.clone()).or_default() += 1;
        self.count.store(pending.len(), Relaxed);
        Removal { key: key.clone(), request: request.clone() }
    }

    /// Lookups then return no variant of the key; at worst a request goes to the origin.
    pub(super) fn contains(&self, key: &Key) -> bool {
        self.count.load(Relaxed) > 0 && self.lock().contains_key(key)
    }

    pub(super) fn complete(&self, key: &Key) {
        let mut pending = self.lock();
        if let Some(count) = pending.get_mut(key) {
            *count -= 1;
            if *count == 0 {
                pending.remove(key);
            }
        }
        self.count.store(pending.len(), Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, usize, U64Hasher>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use http_cache::KeyRule;

    use super::*;

    #[test]
    fn key_is_found_after_all_its_removals() {
        let key = |path: &str| {
            Key::of(&format!("http://a{path}").parse().unwrap(), &HeaderMap::new(), &KeyRule::default())
        };
        let all = PendingRemovals::default();
        let (first, second) = (all.add(&key("/"), &HeaderMap::new()), all.add(&key("/"), &HeaderMap::new()));
        assert!(all.contains(&key("/")) && !all.contains(&key("/other")));
        all.complete(&first.key);
        assert!(all.contains(&key("/")));
        all.complete(&second.key);
        assert!(!all.contains(&key("/")));
    }
}
