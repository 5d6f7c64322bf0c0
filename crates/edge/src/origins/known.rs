//! How origins are: which have failed, which owe a response, and what was counted of each.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use cache::Time;
use http::{Failure, Origin, client::Trace};

use super::is_own;
use crate::{clock, operator::OriginStatus};

/// What is known of all origins.
#[derive(Debug, Default)]
pub(super) struct Table(Mutex<HashMap<Origin, Arc<Known>>>);

/// What is known of one.
#[derive(Debug, Default)]
pub(super) struct Known(Mutex<Health>);

#[derive(Debug, Clone, Copy, Default)]
struct Health {
    /// It failed, and is asked after all others until then.
    down_until: Option<Time>,
    /// The direct path to it failed, and has not led to a response since.
    has_failed_path: bool,
    in_flight: u64,
    /// Since when it owes the head of a response, and has given none.
    silent_since: Option<Time>,
    requests: u64,
    failures: u64,
    connect: Option<Duration>,
}

impl Table {
    /// What is known of an origin, and is put down of it from now on.
    pub(super) fn of(&self, origin: &Origin) -> Arc<Known> {
        let mut known = lock(&self.0);
        if let Some(known) = known.get(origin) {
            return Arc::clone(known);
        }
        Arc::clone(known.entry(origin.clone()).or_default())
    }

    /// Whether it has not just failed.
    pub(super) fn is_up(&self, origin: &Origin, now: Time) -> bool {
        self.health(origin).is_up(now)
    }

    /// Whether it has just failed, or owes a response for longer than `patience`.
    pub(super) fn is_failing(&self, origin: &Origin, patience: Duration, now: Time) -> bool {
        let health = self.health(origin);
        !health.is_up(now) || health.silent_since.is_some_and(|since| now >= since.after(patience))
    }

    /// What an operator is told of an origin that has so many connections.
    pub(super) fn report(&self, origin: &Origin, connections: u64, now: Time) -> OriginStatus {
        let health = self.health(origin);
        OriginStatus {
            address: origin.to_string(),
            healthy: health.is_up(now),
            connections,
            in_flight: health.in_flight,
            requests: health.requests,
            failures: health.failures,
            connect_ms: health.connect.map(|connect| connect.as_secs_f64() * 1e3),
        }
    }

    fn health(&self, origin: &Origin) -> Health {
        lock(&self.0).get(origin).map(|known| *known.lock()).unwrap_or_default()
    }
}

impl Known {
    /// It was reached by another way than this data centre's own.
    pub(super) fn reached(&self) {
        self.lock().down_until = None;
    }

    /// The direct path to it failed.
    pub(super) fn path_failed(&self) {
        self.lock().has_failed_path = true;
    }

    pub(super) fn has_failed_path(&self) -> bool {
        self.lock().has_failed_path
    }

    /// Counts a request that is made now.
    pub(super) fn begin(self: Arc<Self>, now: Time) -> Asking {
        let mut health = self.lock();
        health.in_flight += 1;
        health.requests += 1;
        health.silent_since.get_or_insert(now);
        drop(health);
        Asking(self)
    }

    fn lock(&self) -> MutexGuard<'_, Health> {
        lock(&self.0)
    }
}

impl Health {
    fn is_up(&self, now: Time) -> bool {
        self.down_until.is_none_or(|until| now >= until)
    }
}

/// A request that is counted until its head is there, or it is given up.
pub(super) struct Asking(Arc<Known>);

impl Asking {
    /// Puts down that there is a response, or why there is none.
    pub(super) fn answered(self, origin: &Origin, trace: &Trace, failure: Option<&Failure>, now: Time) {
        let mut health = self.0.lock();
        if let Some(connect) = trace.connect {
            health.connect = Some(Duration::from_nanos(connect));
        }
        match failure {
            None => {
                health.down_until = None;
                health.has_failed_path = false;
                health.silent_since = (health.in_flight > 1).then(clock::now);
            }
            // It was not asked at all, or not to the end: its visitor broke off.
            Some(failure) if is_own(*failure) || *failure == Failure::Source => {}
            Some(failure) => {
                tracing::info!(%origin, %failure, step = %trace.step(), "an origin failed");
                health.failures += 1;
                health.down_until = Some(now.after(REST));
            }
        }
    }

    /// It was no request after all.
    pub(super) fn was_not_made(self) {
        self.0.lock().requests -= 1;
    }
}

impl Drop for Asking {
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

/// How long an origin that failed is asked after all others.
const REST: Duration = Duration::from_secs(10);
