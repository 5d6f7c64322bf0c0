//! The pool of connections.
//!
//! Each permit is one connection in use: leased to an HTTP/1 request, or held by an HTTP/2 or
//! HTTP/3 connection for its lifetime. An idle HTTP/1 connection holds no permit, but no connection
//! is opened while another is idle.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{config::Limits, http1::Http1, multiplexed::Multiplexed, trace::Trace};
use crate::{
    Failure, Origin,
    clock::{Clock, nanos},
};

pub(crate) struct Pool {
    limits: Limits,
    clock: Clock,
    origins: Mutex<HashMap<Origin, Arc<OriginPool>>>,
}

pub(crate) struct OriginPool {
    limits: Limits,
    clock: Clock,
    idle: Mutex<Idle>,
    shared: Mutex<Option<Multiplexed>>,
    opening: tokio::sync::Mutex<NegotiatedProtocol>,
    permits: Arc<Semaphore>,
    waiting: AtomicUsize,
    asked: AtomicU64,
}

#[derive(Default)]
struct Idle {
    /// The most recently used is last: it is the most likely to be still open.
    connections: Vec<(u64, Box<Http1>)>,
    is_swept: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum NegotiatedProtocol {
    /// Unknown, HTTP/2 or HTTP/3: other requests wait for the connection being opened.
    #[default]
    PerhapsShared,
    /// HTTP/1.1: each request opens a connection.
    Http1,
}

pub(crate) enum Checkout<'p> {
    Shared(Multiplexed),
    Idle(Box<Http1>, OwnedSemaphorePermit),
    /// Requests that may share it wait while `opening` is held.
    New {
        permit: OwnedSemaphorePermit,
        opening: Option<tokio::sync::MutexGuard<'p, NegotiatedProtocol>>,
    },
}

/// `give_back` returns it to the pool; a drop closes it.
pub(crate) struct Lease {
    // Drop order: the connection closes before the permit is released.
    connection: Box<Http1>,
    home: Option<PoolReturn>,
}

struct PoolReturn {
    pool: Arc<OriginPool>,
    permit: OwnedSemaphorePermit,
}

impl Pool {
    pub(crate) fn new(limits: Limits, clock: Clock) -> Self {
        Self { limits, clock, origins: Mutex::default() }
    }

    pub(crate) fn fresh(&self) -> Self {
        Self::new(self.limits, self.clock)
    }

    pub(crate) fn with_connections(&self, connections: usize) -> Self {
        Self::new(Limits { connections, ..self.limits }, self.clock)
    }

    pub(crate) fn connections(&self, origin: &Origin) -> usize {
        lock(&self.origins).get(origin).map_or(0, |pool| pool.connections())
    }

    pub(crate) fn has(&self, origin: &Origin) -> Option<Arc<OriginPool>> {
        lock(&self.origins).get(origin).cloned()
    }

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

    /// New requests need the lock on the origins, which the caller holds.
    fn is_unused(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) == 1
            && self.shared().is_none_or(|shared| shared.life().idle_since().is_some())
    }

    pub(crate) async fn place(&self, may_share: bool, trace: &mut Trace) -> Result<Checkout<'_>, Failure> {
        if let Some(connection) = self.shared() {
            if connection.queue().is_some_and(|others| others >= self.limits.waiting) {
                return Err(Failure::Busy);
            }
            return Ok(Checkout::Shared(connection));
        }
        let opening = if may_share { self.opening(trace).await? } else { None };
        if opening.is_some()
            && let Some(connection) = self.shared()
        {
            return Ok(Checkout::Shared(connection));
        }
        let permit = self.permit(trace).await?;
        Ok(match self.take_idle(self.clock.now()) {
            Some(connection) => Checkout::Idle(connection, permit),
            None => Checkout::New { permit, opening },
        })
    }

    /// `None` if connections to this server are not shared.
    async fn opening(
        &self,
        trace: &mut Trace,
    ) -> Result<Option<tokio::sync::MutexGuard<'_, NegotiatedProtocol>>, Failure> {
        let speaks = match self.opening.try_lock() {
            Ok(speaks) => speaks,
            Err(_) => self.waited(trace, self.opening.lock()).await?,
        };
        Ok((*speaks == NegotiatedProtocol::PerhapsShared).then_some(speaks))
    }

    async fn permit(&self, trace: &mut Trace) -> Result<OwnedSemaphorePermit, Failure> {
        if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
            return Ok(permit);
        }
        let permit = self.waited(trace, Arc::clone(&self.permits).acquire_owned()).await?;
        permit.map_err(|_| Failure::Busy)
    }

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

    fn keep_idle(self: &Arc<Self>, mut connection: Box<Http1>) {
        if connection.is_closed() {
            return;
        }
        let since = connection.recorder().last_read().unwrap_or_else(|| self.clock.now());
        let mut idle = lock(&self.idle);
        idle.connections.push((since, connection));
        self.sweep(&mut idle);
    }

    pub(crate) fn shared(&self) -> Option<Multiplexed> {
        let oldest = self.oldest(self.clock.now());
        let mut shared = lock(&self.shared);
        if shared.as_ref().is_some_and(|shared| shared.life().is_closed() || is_older(shared, oldest)) {
            *shared = None;
        }
        shared.clone()
    }

    pub(crate) fn share(self: &Arc<Self>, connection: &Multiplexed, permit: OwnedSemaphorePermit) {
        connection.life().hold(permit);
        *lock(&self.shared) = Some(connection.clone());
        self.sweep(&mut lock(&self.idle));
    }

    pub(crate) fn unshare(&self, refused: &Multiplexed) {
        let mut shared = lock(&self.shared);
        if shared.as_ref().is_some_and(|shared| shared.is_same(refused)) {
            *shared = None;
        }
    }

    pub(crate) fn leave(&self) {
        *lock(&self.shared) = None;
        lock(&self.idle).connections.clear();
    }

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
                let Some(pool) = pool.upgrade() else { return };
                if !pool.close_old() {
                    return;
                }
            }
        });
    }

    fn close_old(&self) -> bool {
        let oldest = self.oldest(self.clock.now());
        let mut idle = lock(&self.idle);
        idle.connections.retain_mut(|(since, connection)| *since >= oldest && !connection.is_closed());
        idle.is_swept = self.shared().is_some() || !idle.connections.is_empty();
        idle.is_swept
    }

    fn oldest(&self, now: u64) -> u64 {
        now.saturating_sub(nanos(self.limits.idle))
    }
}

impl Lease {
    pub(crate) fn of_idle(pool: Arc<OriginPool>, now: u64) -> Option<Self> {
        if lock(&pool.shared).is_some() {
            return None;
        }
        let permit = Arc::clone(&pool.permits).try_acquire_owned().ok()?;
        Some(Self::of_pool(pool.take_idle(now)?, pool, permit))
    }

    pub(crate) fn of_pool(
        connection: Box<Http1>,
        pool: Arc<OriginPool>,
        permit: OwnedSemaphorePermit,
    ) -> Self {
        Self { connection, home: Some(PoolReturn { pool, permit }) }
    }

    pub(crate) fn once(connection: Box<Http1>) -> Self {
        Self { connection, home: None }
    }

    pub(crate) fn connection(&mut self) -> &mut Http1 {
        &mut self.connection
    }

    pub(crate) fn left(&self) -> Option<u64> {
        self.connection.left()
    }

    pub(crate) fn into_permit(self) -> Option<OwnedSemaphorePermit> {
        self.home.map(|home| home.permit)
    }

    pub(crate) fn give_back(self) {
        if let Some(home) = self.home {
            // The connection is returned before the permit is released, so the request that obtains the
            // permit finds it.
            home.pool.keep_idle(self.connection);
        }
    }
}

/// At least 1.
fn most(limits: Limits) -> usize {
    limits.connections.clamp(1, Semaphore::MAX_PERMITS)
}

fn is_older(connection: &Multiplexed, oldest: u64) -> bool {
    connection.life().idle_since().is_some_and(|since| since < oldest)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

const SWEEP: Duration = Duration::from_millis(10);
