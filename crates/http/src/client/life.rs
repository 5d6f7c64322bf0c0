//! What connections have in common that carry many requests at once, whichever protocol they speak: who is on them, since
//! when nobody is, and whether they have ended.

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

/// The life of a connection that requests share.
pub(crate) struct Life {
    recorder: Arc<Recorder>,
    remote: Option<SocketAddr>,
    clock: Clock,
    is_used: AtomicBool,
    is_closed: AtomicBool,
    requests: AtomicUsize,
    /// When the last request ended.
    idle_since: AtomicU64,
    /// Its permit among the connections to its origin, which it returns when it ends.
    permit: Mutex<Option<OwnedSemaphorePermit>>,
}

impl Life {
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

    /// Where it leads, if that has an address.
    pub(crate) fn remote(&self) -> Option<SocketAddr> {
        self.remote
    }

    pub(crate) fn clock(&self) -> Clock {
        self.clock
    }

    pub(crate) fn recorder(&self) -> Arc<Recorder> {
        Arc::clone(&self.recorder)
    }

    /// When bytes last came in, for whichever request.
    pub(crate) fn last_read(&self) -> Option<u64> {
        self.recorder.last_read()
    }

    /// Keeps `permit` until the connection has ended.
    pub(crate) fn hold(&self, permit: OwnedSemaphorePermit) {
        let mut held = self.permit();
        if !self.is_closed() {
            *held = Some(permit);
        }
    }

    /// The connection has ended.
    pub(crate) fn end(&self) {
        self.is_closed.store(true, Relaxed);
        self.permit().take();
    }

    /// Whether it is known that no further request can be made.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Relaxed)
    }

    /// How many requests are on it, those that wait for the server to allow one more stream included.
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Relaxed)
    }

    /// Since when it carries no request; `None` while it does.
    pub(crate) fn idle_since(&self) -> Option<u64> {
        (self.requests() == 0).then(|| self.idle_since.load(Relaxed))
    }

    /// Puts down where a request goes.
    pub(crate) fn introduce(&self, trace: &mut Trace) {
        trace.reused = Some(self.is_used.swap(true, Relaxed));
        trace.remote = self.remote;
    }

    /// Counts one more request, and returns how many there were before.
    pub(crate) fn count(self: &Arc<Self>) -> (Count, usize) {
        let others = self.requests.fetch_add(1, Relaxed);
        (Count(Arc::clone(self)), others)
    }

    fn permit(&self) -> MutexGuard<'_, Option<OwnedSemaphorePermit>> {
        self.permit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts a request on its connection for as long as this lives, be it finished or given up.
pub(crate) struct Count(Arc<Life>);

impl Drop for Count {
    fn drop(&mut self) {
        self.0.idle_since.store(self.0.clock.now(), Relaxed);
        self.0.requests.fetch_sub(1, Relaxed);
    }
}
