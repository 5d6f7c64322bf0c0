//! What one core passes on without a look at the store: requests as they came, and why their responses are not stored.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use cache::{CacheStatus, Forward, Time};
use http::{StatusCode, server::Glance};

use crate::{
    alike::Alike,
    likeness::Likeness,
    network::{Network, Zone},
    passing::Passed,
    visit::Visit,
};

/// Requests that a core passes on.
#[derive(Debug, Default)]
pub(crate) struct Ways(Alike<Arc<Way>>);

/// How a request was passed on, and one that is the same is.
#[derive(Debug)]
pub(crate) struct Way {
    network: Arc<Network>,
    zone: usize,
    reason: Reason,
    /// Of the response that it got: with it no rule has anything to say.
    status: StatusCode,
    /// What the cache did, for Cache-Status.
    told: Box<str>,
    /// Its response turned out to need more than its lines.
    is_in_vain: AtomicBool,
}

/// Why a response is passed back without being stored.
#[derive(Debug, Clone)]
pub(crate) enum Reason {
    /// A rule says so.
    Bypass,
    /// It was not to be stored when it came last, for as long as that is remembered.
    Passed(Arc<Passed>),
}

impl Reason {
    fn forward(&self) -> Forward {
        match self {
            Self::Bypass => Forward::Bypass,
            Self::Passed(_) => Forward::UriMiss,
        }
    }

    fn stands(&self, now: Time) -> bool {
        match self {
            Self::Bypass => true,
            Self::Passed(passed) => passed.holds(now),
        }
    }
}

impl Way {
    /// `None` if a request like this one could be another matter.
    fn of(visit: &Visit, reason: Reason, centre: &str, status: StatusCode) -> Option<Self> {
        let rule = visit.rule_for(status);
        // Another path may have a better response.
        if visit.zone().detour_statuses.contains(&status) {
            return None;
        }
        if rule.is_some_and(|rule| rule.edge_ttl.is_some() || rule.browser_ttl.is_some()) {
            return None;
        }
        let (network, zone) = visit.place();
        let told = CacheStatus {
            cache: centre.to_owned(),
            forward: Some(reason.forward()),
            forward_status: Some(status.as_u16()),
            ..CacheStatus::default()
        };
        let (network, told) = (Arc::clone(network), told.to_string().into());
        Some(Self { network, zone, reason, status, told, is_in_vain: AtomicBool::new(false) })
    }

    pub(crate) fn reason(&self) -> &Reason {
        &self.reason
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// Nobody goes it any more: a response needed more than its lines.
    pub(crate) fn give_up(&self) {
        self.is_in_vain.store(true, Relaxed);
    }

    pub(crate) fn told(&self) -> &str {
        &self.told
    }

    pub(crate) fn forward(&self) -> Forward {
        self.reason.forward()
    }

    pub(crate) fn network(&self) -> &Network {
        &self.network
    }

    pub(crate) fn zone(&self) -> &Zone {
        &self.network.zones[self.zone]
    }
}

impl Ways {
    /// The way of a request that is the same as one before.
    pub(crate) fn find(&mut self, now: Time, request: &Glance<'_>) -> Option<Arc<Way>> {
        let hash = self.0.hash(request);
        let way = self.0.find(hash, request, |way| way.reason.stands(now))?;
        (!way.is_in_vain.load(Relaxed)).then(|| Arc::clone(way))
    }

    /// Adds the way of a request that the data centre `centre` passed on, and that got a response with this status; unless one like it could be
    /// another matter.
    pub(crate) fn add(
        &mut self,
        visit: &Visit,
        reason: Reason,
        (centre, status): (&str, StatusCode),
        now: Time,
    ) {
        let Some(way) = Way::of(visit, reason, centre, status) else { return };
        let Some(likeness) = Likeness::of(visit, std::iter::empty()) else { return };
        // What was in vain with the same status is so again.
        if !self.0.has(&likeness, |other| other.reason.stands(now) && other.status == status) {
            self.0.add(likeness, Arc::new(way), |other| other.reason.stands(now));
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
