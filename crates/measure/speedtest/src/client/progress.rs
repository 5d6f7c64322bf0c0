//! Progress of a running test.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use crate::plan::{Direction, Step};

/// Progress of a test. Clones share the same state.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    moved: [AtomicU64; 2],
    live: Mutex<Live>,
}

/// The current step of a test, and its latest figures.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Live {
    /// The current step.
    pub step: Option<Step>,
    /// Number of completed steps.
    pub done: usize,
    /// Number of steps of the plan; some may be skipped.
    pub of: usize,
    /// The latest idle latency, ms.
    pub idle_ms: Option<f64>,
    /// The latest latency under load, ms.
    pub loaded_ms: Option<f64>,
    /// The latest rate of a request in each direction, bits per second.
    pub bps: [Option<f64>; 2],
    /// Number of returned datagrams.
    pub datagrams: Option<u32>,
}

impl Progress {
    /// The current step and figures.
    pub fn live(&self) -> Live {
        *self.lock()
    }

    /// Number of bytes transferred so far.
    pub fn moved(&self, direction: Direction) -> u64 {
        self.inner.moved[direction as usize].load(Relaxed)
    }

    pub(crate) fn add(&self, direction: Direction, bytes: u64) {
        self.inner.moved[direction as usize].fetch_add(bytes, Relaxed);
    }

    pub(crate) fn step(&self, step: Step, done: usize, of: usize) {
        let mut live = self.lock();
        (live.step, live.done, live.of) = (Some(step), done, of);
    }

    pub(crate) fn latency(&self, ms: f64) {
        self.lock().idle_ms = Some(ms);
    }

    pub(crate) fn loaded(&self, ms: f64) {
        self.lock().loaded_ms = Some(ms);
    }

    pub(crate) fn rate(&self, direction: Direction, bps: f64) {
        self.lock().bps[direction as usize] = Some(bps);
    }

    pub(crate) fn datagrams(&self, came_back: u32) {
        self.lock().datagrams = Some(came_back);
    }

    fn lock(&self) -> MutexGuard<'_, Live> {
        self.inner.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
