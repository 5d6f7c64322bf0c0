//! The health of origins, and their counters.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use http_cache::Time;
use http_stack::{Failure, Origin, client::Trace};

use super::is_local_failure;
use crate::{admin::api::OriginStatus, util::clock};

#[derive(Debug, Default)]
pub(super) struct OriginHealth(Mutex<HashMap<Origin, Arc<OriginState>>>);

#[derive(Debug, Default)]
pub(super) struct OriginState(Mutex<Health>);

#[derive(Debug, Clone, Copy, Default)]
struct Health {
    /// Until this time, other origins are tried first.
    down_until: Option<Time>,
    last_failure: Option<(Failure, Time)>,
    /// Whether the log has the failure and not yet the recovery.
    is_logged_as_failing: bool,
    /// No direct request has received a response since.
    has_failed_path: bool,
    in_flight: u64,
    /// The start of the wait for a response head, since the last response.
    silent_since: Option<Time>,
    requests: u64,
    failures: u64,
    connect: Option<Duration>,
}

impl OriginHealth {
    pub(super) fn of(&self, origin: &Origin) -> Arc<OriginState> {
        let mut state = lock(&self.0);
        if let Some(state) = state.get(origin) {
            return Arc::clone(state);
        }
        Arc::clone(state.entry(origin.clone()).or_default())
    }

    pub(super) fn is_up(&self, origin: &Origin, now: Time) -> bool {
        self.health(origin).is_up(now)
    }

    pub(super) fn is_failing(&self, origin: &Origin, max_wait: Duration, now: Time) -> bool {
        let health = self.health(origin);
        !health.is_up(now) || health.silent_since.is_some_and(|since| now >= since.after(max_wait))
    }

    pub(super) fn report(&self, origin: &Origin, connections: u64, now: Time) -> OriginStatus {
        let health = self.health(origin);
        OriginStatus {
            address: origin.label(),
            healthy: health.is_up(now),
            reason: health
                .last_failure
                .filter(|_| !health.is_up(now))
                .map(|(failure, _)| failure.to_string()),
            connections,
            in_flight: health.in_flight,
            requests: health.requests,
            failures: health.failures,
            connect_ms: health.connect.map(|connect| connect.as_secs_f64() * 1e3),
        }
    }

    fn health(&self, origin: &Origin) -> Health {
        lock(&self.0).get(origin).map(|state| *state.lock()).unwrap_or_default()
    }
}

impl OriginState {
    pub(super) fn mark_reached(&self) {
        self.lock().down_until = None;
    }

    pub(super) fn mark_path_failed(&self) {
        self.lock().has_failed_path = true;
    }

    pub(super) fn has_failed_path(&self) -> bool {
        self.lock().has_failed_path
    }

    pub(super) fn begin(self: Arc<Self>, now: Time) -> InFlightGuard {
        let mut health = self.lock();
        health.in_flight += 1;
        health.requests += 1;
        health.silent_since.get_or_insert(now);
        drop(health);
        InFlightGuard(self)
    }

    fn lock(&self) -> MutexGuard<'_, Health> {
        lock(&self.0)
    }
}

impl Health {
    fn log_failure(&mut self, origin: &Origin, (failure, trace): (&Failure, &Trace), now: Time) {
        if self.is_logged_as_failing {
            tracing::info!(%origin, %failure, step = %trace.step(), "an origin failed");
        } else {
            tracing::warn!(%origin, %failure, step = %trace.step(), "an origin fails");
        }
        self.is_logged_as_failing = true;
        self.last_failure = Some((*failure, now));
    }

    /// An origin that fails now and then has at most one line for each delay.
    fn log_recovery(&mut self, origin: &Origin, now: Time) {
        let Some((failure, at)) = self.last_failure.filter(|_| self.is_logged_as_failing) else { return };
        if now.since(at) >= RETRY_DELAY {
            self.is_logged_as_failing = false;
            tracing::warn!(%origin, last_failure = %failure, "an origin responds again");
        }
    }

    fn is_up(&self, now: Time) -> bool {
        self.down_until.is_none_or(|until| now >= until)
    }
}

/// Counts a request until its response head is received or it is cancelled.
pub(super) struct InFlightGuard(Arc<OriginState>);

impl InFlightGuard {
    pub(super) fn answered(self, origin: &Origin, trace: &Trace, failure: Option<&Failure>, now: Time) {
        let mut health = self.0.lock();
        if let Some(connect) = trace.connect {
            health.connect = Some(Duration::from_nanos(connect));
        }
        match failure {
            None => {
                health.log_recovery(origin, now);
                health.down_until = None;
                health.has_failed_path = false;
                health.silent_since = (health.in_flight > 1).then(clock::now);
            }
            // The request was not sent completely: no capacity here, or the client aborted it.
            Some(failure) if is_local_failure(*failure) || *failure == Failure::Source => {}
            Some(failure) => {
                health.log_failure(origin, (failure, trace), now);
                health.failures += 1;
                health.down_until = Some(now.after(RETRY_DELAY));
            }
        }
    }

    pub(super) fn cancel(self) {
        self.0.lock().requests -= 1;
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        let mut health = self.0.lock();
        health.in_flight -= 1;
        if health.in_flight == 0 {
            health.silent_since = None;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How long other origins are tried before a failed origin.
const RETRY_DELAY: Duration = Duration::from_secs(10);
