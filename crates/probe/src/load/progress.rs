//! The progress of a run, for display.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// Counters of a run, readable from any thread while it lasts; clones share them.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    counters: Arc<Counters>,
}

#[derive(Debug, Default)]
struct Counters {
    sent: AtomicU64,
    done: AtomicU64,
    failed: AtomicU64,
}

impl Progress {
    /// Requests started.
    pub fn sent(&self) -> u64 {
        self.counters.sent.load(Relaxed)
    }

    /// Requests finished, failed ones included.
    pub fn done(&self) -> u64 {
        self.counters.done.load(Relaxed)
    }

    /// Requests failed, and those that were due but not sent.
    pub fn failed(&self) -> u64 {
        self.counters.failed.load(Relaxed)
    }

    pub(crate) fn count_sent(&self) {
        self.counters.sent.fetch_add(1, Relaxed);
    }

    pub(crate) fn count_done(&self) {
        self.counters.done.fetch_add(1, Relaxed);
    }

    pub(crate) fn count_failed(&self) {
        self.counters.failed.fetch_add(1, Relaxed);
    }
}
