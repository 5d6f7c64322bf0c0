//! The common state of connections with concurrent requests: request count, idle time, and whether the
//! connection has ended.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
};

use tokio::sync::OwnedSemaphorePermit;

use super::{io::Recorder, trace::Trace};
use crate::clock::Clock;

pub(crate) struct MuxState {
    recorder: Arc<Recorder>,
    remote: Option<SocketAddr>,
    clock: Clock,
    is_used: AtomicBool,
    is_closed: AtomicBool,
    requests: AtomicUsize,
    idle_since: AtomicU64,
    permit: Mutex<Option<OwnedSemaphorePermit>>,
}

impl MuxState {
    pub(crate) fn new(recorder: Arc<Recorder>, remote: Option<SocketAddr>, clock: Clock) -> Arc<Self> {
        Arc::new(Self {
            recorder,
            remote,
            clock,
            is_used: AtomicBool::new(false),
            is_closed: AtomicBool::new(false),
            requests: AtomicUsize::new(0),
            idle_since: AtomicU64::new(clock.now()),
            permit: Mutex::default(),
        })
    }

    pub(crate) fn remote(&self) -> Option<SocketAddr> {
        self.remote
    }

    pub(crate) fn clock(&self) -> Clock {
        self.clock
    }

    pub(crate) fn recorder(&self) -> Arc<Recorder> {
        Arc::clone(&self.recorder)
    }

    pub(crate) fn last_read(&self) -> Option<u64> {
        self.recorder.last_read()
    }

    pub(crate) fn hold(&self, permit: OwnedSemaphorePermit) {
        let mut held = self.permit();
        if !self.is_closed() {
            *held = Some(permit);
        }
    }

    pub(crate) fn end(&self) {
        self.is_closed.store(true, Relaxed);
        self.permit().take();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Relaxed)
    }

    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Relaxed)
    }

    /// `None` while it carries a request.
    pub(crate) fn idle_since(&self) -> Option<u64> {
        (self.requests() == 0).then(|| self.idle_since.load(Relaxed))
    }

    pub(crate) fn introduce(&self, trace: &mut Trace) {
        trace.reused = Some(self.is_used.swap(true, Relaxed));
        trace.remote = self.remote;
    }

    pub(crate) fn count(self: &Arc<Self>) -> (StreamCount, usize) {
        let others = self.requests.fetch_add(1, Relaxed);
        (StreamCount(Arc::clone(self)), others)
    }

    fn permit(&self) -> MutexGuard<'_, Option<OwnedSemaphorePermit>> {
        self.permit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) struct StreamCount(Arc<MuxState>);

impl Drop for StreamCount {
    fn drop(&mut self) {
        self.0.idle_since.store(self.0.clock.now(), Relaxed);
        self.0.requests.fetch_sub(1, Relaxed);
    }
}
