//! The pool of a zone in this process: its origins, and their requests in flight over all workers.

use std::{
    collections::HashMap,
    pin::pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

use tier_routing::KeyHash;
use tokio::time::timeout;

use super::{
    check_state::Thresholds,
    ejection::EjectionRule,
    in_flight_permit::InFlightPermit,
    pool::{MemberSettings, Outcome, Pick, PickInput, Pool, PoolSettings},
    queue::Queue,
    state::{Change, State},
};
use crate::{
    admin::api::{PoolMemberStatus, PoolStatus},
    config::{HealthCheck, LoadBalancing, OriginUrl, Zone},
    request::rejection::{BUSY, Rejection},
    util::clock,
};

pub(crate) struct ZonePool {
    zone: String,
    origins: Vec<OriginUrl>,
    balancing: LoadBalancing,
    pool: Mutex<Pool>,
    in_flight: Vec<Arc<AtomicU32>>,
    queue: Arc<Queue>,
}

impl ZonePool {
    /// Continues the counters and states of `earlier`.
    pub(super) fn new(zone: &Zone, earlier: Option<&Self>) -> Self {
        let member = |(number, origin): (usize, &OriginUrl)| {
            let settings = zone.balancing.origin(number);
            MemberSettings {
                name: origin.to_string(),
                weight: settings.weight,
                max_in_flight: settings.max_connections,
            }
        };
        let known = earlier.map_or_else(HashMap::new, |earlier| earlier.lock().health());
        let members = zone.origins.iter().enumerate().map(member).collect();
        let in_flight = |origin: &OriginUrl| {
            let earlier = earlier.and_then(|earlier| earlier.in_flight.get(earlier.number(origin)?));
            earlier.map_or_else(Arc::default, Arc::clone)
        };
        Self {
            zone: zone.name.clone(),
            origins: zone.origins.clone(),
            pool: Mutex::new(Pool::new(settings(&zone.balancing), members, &known)),
            in_flight: zone.origins.iter().map(in_flight).collect(),
            queue: earlier.map_or_else(Arc::default, |earlier| Arc::clone(&earlier.queue)),
            balancing: zone.balancing.clone(),
        }
    }

    pub(super) fn is_of(&self, zone: &Zone) -> bool {
        self.origins == zone.origins && self.balancing == zone.balancing
    }

    fn number(&self, origin: &OriginUrl) -> Option<usize> {
        self.origins.iter().position(|own| own == origin)
    }

    pub(super) fn pick(
        self: &Arc<Self>,
        tried: &[usize],
        key: KeyHash,
    ) -> Result<Option<(usize, InFlightPermit)>, Rejection> {
        let now = clock::now();
        let mut pool = self.lock();
        let changes = pool.advance(now);
        let in_flight: Vec<_> = self.in_flight.iter().map(|count| count.load(SeqCst)).collect();
        let picked = pool.pick(PickInput { tried, in_flight: &in_flight, key }, now);
        let lease = match picked {
            Pick::None => Ok(None),
            Pick::Full => Err(BUSY),
            // Counted under the lock, so that two workers cannot take the last place.
            Pick::Member(number) => Ok(self
                .in_flight
                .get(number)
                .map(|count| (number, InFlightPermit::new(Arc::clone(count), Arc::clone(&self.queue))))),
        };
        drop(pool);
        changes.iter().for_each(|(number, change)| self.log(*number, change));
        lease
    }

    /// Waits for a free place as long as for an origin's response.
    pub(super) async fn pick_or_wait(
        self: &Arc<Self>,
        key: KeyHash,
        max_wait: Duration,
    ) -> Result<Option<(usize, InFlightPermit)>, Rejection> {
        let picked = self.pick(&[], key);
        if picked.is_ok() {
            return picked;
        }
        let Some(_place) = self.queue.enter() else { return picked };
        let wait = async {
            loop {
                let mut freed = pin!(self.queue.freed.notified());
                freed.as_mut().enable();
                let picked = self.pick(&[], key);
                if picked.is_ok() {
                    return picked;
                }
                freed.await;
            }
        };
        // Boxed to keep the future of other requests small.
        timeout(max_wait, Box::pin(wait)).await.unwrap_or(Err(BUSY))
    }

    pub(super) fn record(&self, number: usize, outcome: Outcome<'_>) {
        let change = self.lock().record(number, outcome, clock::now());
        if let Some(change) = change {
            self.log(number, &change);
        }
    }

    pub(super) fn record_check(&self, number: usize, result: Result<(), String>) {
        let change = self.lock().record_check(number, result, clock::now());
        if let Some(change) = change {
            self.log(number, &change);
        }
    }

    fn log(&self, number: usize, change: &Change) {
        let Some(origin) = self.origins.get(number) else { return };
        let (zone, reason) = (&self.zone, &change.reason);
        match change.state {
            State::Up => tracing::warn!(zone, %origin, reason, "an origin is used again"),
            State::Down => tracing::warn!(zone, %origin, reason, "an origin is down"),
            State::Ejected => tracing::warn!(zone, %origin, reason, "an origin is ejected"),
        }
    }

    pub(super) fn is_up(&self, number: usize) -> bool {
        let mut pool = self.lock();
        let changes = pool.advance(clock::now());
        let is_up = pool.is_up(number);
        drop(pool);
        changes.iter().for_each(|(number, change)| self.log(*number, change));
        is_up
    }

    pub(super) fn origins(&self) -> &[OriginUrl] {
        &self.origins
    }

    pub(super) fn checks(&self) -> Option<&HealthCheck> {
        self.balancing.health_check.as_ref()
    }

    pub(super) fn report(&self) -> PoolStatus {
        let now = clock::now();
        let pool = self.lock();
        let member = |(number, origin): (usize, &OriginUrl)| {
            let report = pool.report(number, now)?;
            Some(PoolMemberStatus {
                address: origin.to_string(),
                state: report.state.name().to_owned(),
                reason: report.reason,
                weight: report.weight,
                in_flight: self.in_flight.get(number).map_or(0, |count| count.load(SeqCst).into()),
                max_connections: self.balancing.origin(number).max_connections.map(u64::from),
                requests: report.picks,
                ejections: report.ejections,
                ejected_for_s: report.ejected_for.map(|duration| duration.as_secs()),
                checks: report.checks,
                check_failures: report.check_failures,
            })
        };
        PoolStatus {
            zone: self.zone.clone(),
            balance: self.balancing.balance.name().to_owned(),
            origins: self.origins.iter().enumerate().filter_map(member).collect(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn settings(balancing: &LoadBalancing) -> PoolSettings {
    let outlier = |(after, duration)| EjectionRule { after, duration, is_outlier_rule: true };
    let thresholds = |check: &HealthCheck| Thresholds { healthy: check.healthy, unhealthy: check.unhealthy };
    PoolSettings {
        balance: balancing.balance,
        slow_start: balancing.slow_start,
        ejection: balancing.ejection.map_or(EjectionRule::DEFAULT, outlier),
        checks: balancing.health_check.as_ref().map(thresholds),
    }
}
