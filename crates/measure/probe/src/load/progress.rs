//! The progress of a run, for display.

use std::sync::{
    Arc, Mutex, PoisonError,
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
    live: Mutex<Option<Live>>,
}

/// The distributions of a run so far, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Live {
    /// Median duration of responses, from the intended start of the request if there is a schedule.
    pub p50: u64,
    /// The 90th percentile.
    pub p90: u64,
    /// The 99th percentile.
    pub p99: u64,
    /// The maximum.
    pub max: u64,
    /// The 99th percentile of the lateness of requests; `None` without a schedule.
    pub late_p99: Option<u64>,
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

    /// Requests failed, including those that were due but not sent.
    pub fn failed(&self) -> u64 {
        self.counters.failed.load(Relaxed)
    }

    /// The distributions so far, some tenths of a second old; `None` before the first response.
    pub fn live(&self) -> Option<Live> {
        *self.counters.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_live(&self, live: Option<Live>) {
        *self.counters.live.lock().unwrap_or_else(PoisonError::into_inner) = live;
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
