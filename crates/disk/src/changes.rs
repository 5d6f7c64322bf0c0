//! How often something has changed under a key: whoever keeps what was found can see, without a lock, whether that still stands.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Release},
};

/// A count for each key; some keys share one, so that a change may seem to be one of another key too.
#[derive(Debug)]
pub(crate) struct Changes(Box<[AtomicU64]>);

impl Changes {
    /// So many as there were under the key with this hash.
    pub(crate) fn count(&self, hash: u64) -> u64 {
        self.place(hash).load(Acquire)
    }

    /// Notes one, after it was made.
    pub(crate) fn note(&self, hash: u64) {
        self.place(hash).fetch_add(1, Release);
    }

    /// Notes one of every key.
    pub(crate) fn note_all(&self) {
        for place in &self.0 {
            place.fetch_add(1, Release);
        }
    }

    fn place(&self, hash: u64) -> &AtomicU64 {
        // The remainder is less than the number of places.
        &self.0[(hash % PLACES) as usize]
    }
}

impl Default for Changes {
    fn default() -> Self {
        Self((0..PLACES).map(|_| AtomicU64::new(0)).collect())
    }
}

/// 128 KiB: with a thousand changes a second, a key has one of another key every 16 s.
const PLACES: u64 = 1 << 14;
