//! The pass table of a core: requests that are forwarded without a lookup in the store, by fingerprint.

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

#[derive(Debug, Default)]
pub(crate) struct Ways(Alike<Arc<Way>>);

#[derive(Debug)]
pub(crate) struct Way {
    network: Arc<Network>,
    zone: usize,
    reason: Reason,
    /// The status of the recorded response; no rule sets a TTL for it.
    status: StatusCode,
    /// The value of Cache-Status.
    told: Box<str>,
    /// Set when a response could not be relayed line by line.
    is_in_vain: AtomicBool,
}

#[derive(Debug, Clone)]
pub(crate) enum Reason {
    Bypass,
    /// A hit-for-miss entry, while it is active.
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
    /// `None` if a request with this fingerprint may need other handling.
    fn of(visit: &Visit, reason: Reason, centre: &str, status: StatusCode) -> Option<Self> {
        let rule = visit.rule_for(status);
        // A detour through another data centre may get a better response.
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

    /// Stops use of this entry, because a response could not be relayed line by line.
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
    pub(crate) fn find(&mut self, now: Time, request: &Glance<'_>) -> Option<Arc<Way>> {
        let hash = self.0.hash(request);
        let way = self.0.find(hash, request, |way| way.reason.stands(now))?;
        (!way.is_in_vain.load(Relaxed)).then(|| Arc::clone(way))
    }

    /// Adds an entry for a request that the data centre `centre` passed, and that received a response with
    /// this status. Does nothing if requests with this fingerprint may need other handling.
    pub(crate) fn add(
        &mut self,
        visit: &Visit,
        reason: Reason,
        (centre, status): (&str, StatusCode),
        now: Time,
    ) {
        let Some(way) = Way::of(visit, reason, centre, status) else { return };
        let Some(likeness) = Likeness::of(visit, std::iter::empty()) else { return };
        // An entry that could not be relayed with the same status is not tried again.
        if !self.0.has(&likeness, |other| other.reason.stands(now) && other.status == status) {
            self.0.add(likeness, Arc::new(way), |other| other.reason.stands(now));
        }
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
