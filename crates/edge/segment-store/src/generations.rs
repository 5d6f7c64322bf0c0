//! Change counters per key. A cached lookup is valid while its counter is unchanged; the check
//! takes no lock.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Release},
};

/// A counter is shared by several keys: a change of one key also counts for the others.
#[derive(Debug)]
pub(crate) struct Changes(Box<[AtomicU64]>);

impl Changes {
    pub(crate) fn count(&self, hash: u64) -> u64 {
        self.place(hash).load(Acquire)
    }

    /// Call after the change was made.
    pub(crate) fn note(&self, hash: u64) {
        self.place(hash).fetch_add(1, Release);
    }

    pub(crate) fn note_all(&self) {
        for place in &self.0 {
            place.fetch_add(1, Release);
        }
    }

    fn place(&self, hash: u64) -> &AtomicU64 {
        &self.0[(hash % PLACES) as usize]
    }
}

impl Default for Changes {
    fn default() -> Self {
        Self((0..PLACES).map(|_| AtomicU64::new(0)).collect())
    }
}

/// 128 KiB. At 1000 changes per second, the counter of a key changes every 16 s because of other
/// keys.
const PLACES: u64 = 1 << 14;
