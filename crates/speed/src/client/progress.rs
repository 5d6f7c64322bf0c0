//! What can be seen of a test while it lasts.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use crate::plan::{Direction, Step};

/// How far a test is. Clones see the same test.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    moved: [AtomicU64; 2],
    live: Mutex<Live>,
}

/// What a test is doing, and its latest figures.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Live {
    /// What it is doing.
    pub step: Option<Step>,
    /// Steps that are over.
    pub done: usize,
    /// Steps of the plan; those that are not worth their while are passed over.
    pub of: usize,
    /// The latest latency with the line idle, ms.
    pub idle_ms: Option<f64>,
    /// The latest with the line full, ms.
    pub loaded_ms: Option<f64>,
    /// The latest rate of a request in each direction, bits a second.
    pub bps: [Option<f64>; 2],
    /// Datagrams that came back so far.
    pub datagrams: Option<u32>,
}

impl Progress {
    /// What it is doing.
    pub fn live(&self) -> Live {
        *self.lock()
    }

    /// Bytes that have moved so far.
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
