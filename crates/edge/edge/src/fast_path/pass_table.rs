//! The pass table of a worker: requests that are forwarded without a lookup in the store, by
//! fingerprint.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use http_cache::{CacheStatus, Forward, Time};
use http_stack::{StatusCode, server::RequestView};

use crate::{
    cache::hit_for_miss::HitForMissEntry,
    config::{Network, Zone},
    fast_path::{fingerprint::RequestFingerprint, request_table::RequestTable},
    request::context::RequestContext,
};

#[derive(Debug, Default)]
pub(crate) struct PassTable(RequestTable<Arc<PassEntry>>);

#[derive(Debug)]
pub(crate) struct PassEntry {
    network: Arc<Network>,
    zone: usize,
    reason: PassReason,
    status: StatusCode,
    cache_status: Box<str>,
    is_retired: AtomicBool,
}

#[derive(Debug, Clone)]
pub(crate) enum PassReason {
    Bypass,
    HitForMiss(Arc<HitForMissEntry>),
}

impl PassReason {
    fn forward(&self) -> Forward {
        match self {
            Self::Bypass => Forward::Bypass,
            Self::HitForMiss(_) => Forward::UriMiss,
        }
    }

    fn is_valid(&self, now: Time) -> bool {
        match self {
            Self::Bypass => true,
            Self::HitForMiss(passed) => passed.is_active(now),
        }
    }
}

impl PassEntry {
    fn of(context: &RequestContext, reason: PassReason, centre: &str, status: StatusCode) -> Option<Self> {
        let rule = context.rule_for(status);
        // Raw forwarding copies target and fields, and does not use the pool.
        if context.zone().changes_requests()
            || context.zone().balancing.needs_pool()
            || context.has_actions()
            || context.matches().is_client_specific()
        {
            return None;
        }
        // A detour through another data centre may get a better response.
        if context.zone().detour_statuses.contains(&status) {
            return None;
        }
        // The response may become cacheable.
        if context.zone().cache_statuses.get(status).is_some() {
            return None;
        }
        if rule.is_some_and(|rule| rule.edge_ttl.is_some() || rule.browser_ttl.is_some()) {
            return None;
        }
        let (network, zone) = context.zone_place();
        let cache_status = CacheStatus {
            cache: centre.to_owned(),
            forward: Some(reason.forward()),
            forward_status: Some(status.as_u16()),
            ..CacheStatus::default()
        };
        let (network, cache_status) = (Arc::clone(network), cache_status.to_string().into());
        Some(Self { network, zone, reason, status, cache_status, is_retired: AtomicBool::new(false) })
    }

    pub(crate) fn reason(&self) -> &PassReason {
        &self.reason
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    pub(crate) fn retire(&self) {
        self.is_retired.store(true, Relaxed);
    }

    pub(crate) fn cache_status(&self) -> &str {
        &self.cache_status
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

impl PassTable {
    pub(crate) fn find(&mut self, now: Time, request: &RequestView<'_>) -> Option<Arc<PassEntry>> {
        let hash = self.0.hash(request);
        let pass_entry = self.0.find(hash, request, |pass_entry| pass_entry.reason.is_valid(now))?;
        (!pass_entry.is_retired.load(Relaxed)).then(|| Arc::clone(pass_entry))
    }

    pub(crate) fn add(
        &mut self,
        context: &RequestContext,
        reason: PassReason,
        (centre, status): (&str, StatusCode),
        now: Time,
    ) {
        let Some(pass_entry) = PassEntry::of(context, reason, centre, status) else { return };
        let Some(fingerprint) = RequestFingerprint::of(context, std::iter::empty()) else { return };
        // An entry that could not be relayed with the same status is not tried again.
        if !self.0.contains(&fingerprint, |other| other.reason.is_valid(now) && other.status == status) {
            self.0.insert(fingerprint, Arc::new(pass_entry), |other| other.reason.is_valid(now));
        }
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
