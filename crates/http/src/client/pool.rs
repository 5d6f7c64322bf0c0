//! Connections kept for the next request, and the room for new ones.
//!
//! One permit is one connection: in the hand of an HTTP/1 request, or held by an HTTP/2 or HTTP/3 connection for its life. An idle
//! HTTP/1 connection holds none, but nobody opens a connection while one is idle; so there are never more connections
//! than permits, and a request that waits for a permit wakes when a connection becomes idle as well as when one ends.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{config::Limits, http1::Http1, shared::Shared, trace::Trace};
use crate::{
    Failure, Origin,
    clock::{Clock, nanos},
};

/// The connections of each origin.
pub(crate) struct Pool {
    limits: Limits,
    clock: Clock,
    origins: Mutex<HashMap<Origin, Arc<OriginPool>>>,
}

/// The connections of one origin: either kind, as the server has agreed to.
pub(crate) struct OriginPool {
    limits: Limits,
    clock: Clock,
    idle: Mutex<Idle>,
    shared: Mutex<Option<Shared>>,
    opening: tokio::sync::Mutex<Speaks>,
    permits: Arc<Semaphore>,
    waiting: AtomicUsize,
    /// When somebody last asked for a connection.
    asked: AtomicU64,
}

#[derive(Default)]
struct Idle {
    /// Since when each is idle. The last one used is the last: it is the likeliest to be alive still.
    connections: Vec<(u64, Box<Http1>)>,
    /// Whether a task looks after connections that are idle for too long.
    is_swept: bool,
}

/// The protocol of a server that could choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Speaks {
    /// Nothing, HTTP/2 or HTTP/3: a request that needs a connection had better wait for the one being opened.
    #[default]
    PerhapsShared,
    /// HTTP/1.1: each opens its own.
    Http1,
}

/// What a request is to be made on.
pub(crate) enum Place<'p> {
    /// A connection that others use too.
    Shared(Shared),
    /// One that was idle.
    Idle(Box<Http1>, OwnedSemaphorePermit),
    /// Room for a new one; others that might share it wait for as long as `opening` is held.
    New { permit: OwnedSemaphorePermit, opening: Option<tokio::sync::MutexGuard<'p, Speaks>> },
}

/// An HTTP/1 connection in the hand of a request. Given back, it is kept; dropped, it is closed.
pub(crate) struct Lease {
    // Dropped in this order: the connection is closed before there is room for the next.
    connection: Box<Http1>,
    home: Option<Home>,
}

struct Home {
    pool: Arc<OriginPool>,
    permit: OwnedSemaphorePermit,
}

impl Pool {
    pub(crate) fn new(limits: Limits, clock: Clock) -> Self {
        Self { limits, clock, origins: Mutex::default() }
    }

    /// Another one with the same limits, and no connections yet.
    pub(crate) fn fresh(&self) -> Self {
        Self::new(self.limits, self.clock)
    }

    /// Another one for so many connections to each origin, none of which is there yet.
    pub(crate) fn with_connections(&self, connections: usize) -> Self {
        Self::new(Limits { connections, ..self.limits }, self.clock)
    }

    /// How many connections to an origin are open, or being opened.
    pub(crate) fn connections(&self, origin: &Origin) -> usize {
        lock(&self.origins).get(origin).map_or(0, |pool| pool.connections())
    }

    /// The connections of `origin`, if it was asked for any.
    pub(crate) fn has(&self, origin: &Origin) -> Option<Arc<OriginPool>> {
        lock(&self.origins).get(origin).cloned()
    }

    /// The connections of `origin`, which is asked for them now; `None` if more origins are in use than are kept.
    pub(crate) fn of(&self, origin: &Origin, now: u64) -> Option<Arc<OriginPool>> {
        let mut origins = lock(&self.origins);
        if let Some(pool) = origins.get(origin) {
            pool.asked.store(now, Relaxed);
            return Some(Arc::clone(pool));
        }
        if origins.len() >= self.limits.origins {
            let longest = origins.iter().filter(|(_, pool)| OriginPool::is_unused(pool));
            let longest = longest.min_by_key(|(_, pool)| pool.asked.load(Relaxed));
            let gives_way = longest.map(|(origin, _)| origin.clone())?;
            origins.remove(&gives_way);
        }
        let pool = Arc::new(OriginPool::new(self.limits, self.clock));
        origins.insert(origin.clone(), Arc::clone(&pool));
        Some(pool)
    }
}

impl OriginPool {
    fn new(limits: Limits, clock: Clock) -> Self {
        Self {
            limits,
            clock,
            idle: Mutex::default(),
            shared: Mutex::default(),
            opening: tokio::sync::Mutex::default(),
            permits: Arc::new(Semaphore::new(most(limits))),
            waiting: AtomicUsize::new(0),
            asked: AtomicU64::new(clock.now()),
        }
    }

    fn connections(&self) -> usize {
        let in_use = most(self.limits) - self.permits.available_permits();
        in_use + lock(&self.idle).connections.len()
    }

    /// Whether no request is on its way here. One that begins now would have to ask the pool of all origins, which is
    /// locked while this is asked.
    fn is_unused(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) == 1
            && self.shared().is_none_or(|shared| shared.life().idle_since().is_some())
    }

    /// The connection for the next request; waits until there is one. `may_share` is whether a new connection may
    /// turn out to be one that requests share.
    pub(crate) async fn place(&self, may_share: bool, trace: &mut Trace) -> Result<Place<'_>, Failure> {
        if let Some(connection) = self.shared() {
            if connection.queue().is_some_and(|others| others >= self.limits.waiting) {
                return Err(Failure::Busy);
            }
            return Ok(Place::Shared(connection));
        }
        let opening = if may_share { self.opening(trace).await? } else { None };
        // Another request may have opened it while this one waited.
        if opening.is_some()
            && let Some(connection) = self.shared()
        {
            return Ok(Place::Shared(connection));
        }
        let permit = self.permit(trace).await?;
        Ok(match self.take_idle(self.clock.now()) {
            Some(connection) => Place::Idle(connection, permit),
            None => Place::New { permit, opening },
        })
    }

    /// Waits until no other request opens a connection; `None` if none would be shared anyway.
    async fn opening(
        &self,
        trace: &mut Trace,
    ) -> Result<Option<tokio::sync::MutexGuard<'_, Speaks>>, Failure> {
        let speaks = match self.opening.try_lock() {
            Ok(speaks) => speaks,
            Err(_) => self.waited(trace, self.opening.lock()).await?,
        };
        Ok((*speaks == Speaks::PerhapsShared).then_some(speaks))
    }

    /// Waits until there may be one more connection in use.
    async fn permit(&self, trace: &mut Trace) -> Result<OwnedSemaphorePermit, Failure> {
        if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
            return Ok(permit);
        }
        let permit = self.waited(trace, Arc::clone(&self.permits).acquire_owned()).await?;
        // The semaphore is never closed.
        permit.map_err(|_| Failure::Busy)
    }

    /// Waits for `event`, if that many may.
    async fn waited<T>(&self, trace: &mut Trace, event: impl Future<Output = T>) -> Result<T, Failure> {
        struct Waiting<'p>(&'p AtomicUsize);
        impl Drop for Waiting<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Relaxed);
            }
        }
        let others = self.waiting.fetch_add(1, Relaxed);
        let _waiting = Waiting(&self.waiting);
        if others >= self.limits.waiting {
            return Err(Failure::Busy);
        }
        let from = self.clock.now();
        let happened = event.await;
        *trace.waited.get_or_insert(0) += self.clock.now().saturating_sub(from);
        Ok(happened)
    }

    /// An idle connection that is alive as far as is known.
    fn take_idle(&self, now: u64) -> Option<Box<Http1>> {
        let mut idle = lock(&self.idle);
        let oldest = self.oldest(now);
        while let Some((since, mut connection)) = idle.connections.pop() {
            if !connection.is_closed() && since >= oldest {
                return Some(connection);
            }
        }
        None
    }

    /// Keeps a connection whose request is done.
    fn keep_idle(self: &Arc<Self>, mut connection: Box<Http1>) {
        if connection.is_closed() {
            return;
        }
        let since = connection.recorder().last_read().unwrap_or_else(|| self.clock.now());
        let mut idle = lock(&self.idle);
        idle.connections.push((since, connection));
        self.sweep(&mut idle);
    }

    /// The shared connection, if it lives as far as is known.
    pub(crate) fn shared(&self) -> Option<Shared> {
        let oldest = self.oldest(self.clock.now());
        let mut shared = lock(&self.shared);
        if shared.as_ref().is_some_and(|shared| shared.life().is_closed() || is_older(shared, oldest)) {
            *shared = None;
        }
        shared.clone()
    }

    /// Shares a connection, which keeps `permit` for its life.
    pub(crate) fn share(self: &Arc<Self>, connection: &Shared, permit: OwnedSemaphorePermit) {
        connection.life().hold(permit);
        *lock(&self.shared) = Some(connection.clone());
        self.sweep(&mut lock(&self.idle));
    }

    /// A request was refused on this connection: no other is to use it.
    pub(crate) fn unshare(&self, refused: &Shared) {
        let mut shared = lock(&self.shared);
        // Another request may have replaced it already.
        if shared.as_ref().is_some_and(|shared| shared.is_same(refused)) {
            *shared = None;
        }
    }

    /// No other request is to use the shared connection, or one that is idle.
    pub(crate) fn leave(&self) {
        *lock(&self.shared) = None;
        lock(&self.idle).connections.clear();
    }

    /// Has connections closed that are idle for longer than they may.
    fn sweep(self: &Arc<Self>, idle: &mut Idle) {
        let patience = self.limits.idle;
        if idle.is_swept || patience == Duration::MAX {
            return;
        }
        idle.is_swept = true;
        let pool = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(patience.max(SWEEP)).await;
                // A client that is gone has taken its connections with it.
                let Some(pool) = pool.upgrade() else { return };
                if !pool.close_old() {
                    return;
                }
            }
        });
    }

    /// Closes connections that were idle for too long; returns whether any are left to watch.
    fn close_old(&self) -> bool {
        let oldest = self.oldest(self.clock.now());
        let mut idle = lock(&self.idle);
        idle.connections.retain_mut(|(since, connection)| *since >= oldest && !connection.is_closed());
        idle.is_swept = self.shared().is_some() || !idle.connections.is_empty();
        idle.is_swept
    }

    /// Connections that became idle before this were idle for too long.
    fn oldest(&self, now: u64) -> u64 {
        now.saturating_sub(nanos(self.limits.idle))
    }
}

impl Lease {
    /// A connection of the pool's that is idle now, if there is one and it may be used at once.
    pub(crate) fn of_idle(pool: Arc<OriginPool>, now: u64) -> Option<Self> {
        if lock(&pool.shared).is_some() {
            return None;
        }
        let permit = Arc::clone(&pool.permits).try_acquire_owned().ok()?;
        Some(Self::of_pool(pool.take_idle(now)?, pool, permit))
    }

    /// A connection of the pool's.
    pub(crate) fn of_pool(
        connection: Box<Http1>,
        pool: Arc<OriginPool>,
        permit: OwnedSemaphorePermit,
    ) -> Self {
        Self { connection, home: Some(Home { pool, permit }) }
    }

    /// A connection for one request.
    pub(crate) fn once(connection: Box<Http1>) -> Self {
        Self { connection, home: None }
    }

    pub(crate) fn connection(&mut self) -> &mut Http1 {
        &mut self.connection
    }

    /// How many bytes of its response's body are still to come, if that is known.
    pub(crate) fn left(&self) -> Option<u64> {
        self.connection.left()
    }

    /// Closes the connection, and keeps the room for another one.
    pub(crate) fn into_permit(self) -> Option<OwnedSemaphorePermit> {
        self.home.map(|home| home.permit)
    }

    /// The request is done and the response was read to its end: the next may use the connection.
    pub(crate) fn give_back(self) {
        if let Some(home) = self.home {
            // First the connection, then the permit: the request that gets the permit finds the connection.
            home.pool.keep_idle(self.connection);
        }
    }
}

/// Connections that one origin may have: at least one.
fn most(limits: Limits) -> usize {
    limits.connections.clamp(1, Semaphore::MAX_PERMITS)
}

/// Whether a connection carries no request, and has not since before `oldest`.
fn is_older(connection: &Shared, oldest: u64) -> bool {
    connection.life().idle_since().is_some_and(|since| since < oldest)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How often idle connections are looked after at most. One that is asked for is never too old.
const SWEEP: Duration = Duration::from_millis(10);
