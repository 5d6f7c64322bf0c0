//! Objects on disk whose origin has another answer now: they are not found any more, and removed when the writer comes to it.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use ::disk::{Id, Store};
use cache::Key;
use http::HeaderMap;

use super::{coded, head};

/// What would answer a request with this header.
pub(super) struct Forgotten {
    key: Key,
    request: HeaderMap,
}

/// Those that are not removed yet.
#[derive(Default)]
pub(super) struct AllForgotten {
    waiting: Mutex<Vec<Arc<Forgotten>>>,
    /// So that a look at the disk takes no lock where none waits.
    count: AtomicUsize,
}

impl Forgotten {
    /// Removes it.
    pub(super) fn remove(&self, store: &Store) -> Result<(), ::disk::Error> {
        remove(store, &self.key, &self.request, None)
    }
}

/// Removes what would answer a request with this header, but for the one object that is kept.
pub(super) fn remove(
    store: &Store,
    key: &Key,
    request: &HeaderMap,
    kept: Option<Id>,
) -> Result<(), ::disk::Error> {
    for found in store.find(key.as_str().as_bytes())?.into_iter().filter(|found| Some(found.id) != kept) {
        let object = head::read(&found.head, key, &[], Arc::default());
        if object.is_some_and(|object| object.stored.selection.matches(request)) {
            store.remove(found.id)?;
            coded::remove(store, key, found.id)?;
        }
    }
    Ok(())
}

impl AllForgotten {
    pub(super) fn add(&self, key: &Key, request: &HeaderMap) -> Arc<Forgotten> {
        let forgotten = Arc::new(Forgotten { key: key.clone(), request: request.clone() });
        let mut waiting = self.lock();
        waiting.push(Arc::clone(&forgotten));
        self.count.store(waiting.len(), Relaxed);
        forgotten
    }

    /// Whether something under a key is among them: until it is removed, no variant is found, and at worst an origin is asked.
    pub(super) fn has(&self, key: &Key) -> bool {
        self.count.load(Relaxed) > 0 && self.lock().iter().any(|other| other.key == *key)
    }

    /// It is removed.
    pub(super) fn is_done(&self, forgotten: &Arc<Forgotten>) {
        let mut waiting = self.lock();
        waiting.retain(|other| !Arc::ptr_eq(other, forgotten));
        self.count.store(waiting.len(), Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Forgotten>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
