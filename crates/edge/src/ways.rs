//! What one core passes on without a look at the store: requests as they came, and why their responses are not stored.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use cache::{CacheStatus, Forward, Time};
use http::{Scheme, StatusCode, server::Glance};

use crate::{
    likeness::Likeness,
    network::{Network, Zone},
    passing::Passed,
    visit::Visit,
};

/// Requests that a core passes on.
#[derive(Debug, Default)]
pub(crate) struct Ways {
    hasher: RandomState,
    /// By the hash of scheme, host and target.
    table: HashMap<u64, Vec<Arc<Way>>>,
    count: usize,
}

/// How a request was passed on, and one that is the same is.
#[derive(Debug)]
pub(crate) struct Way {
    likeness: Likeness,
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
    /// The way of a request that the data centre `centre` passed on, and that got a response with this status. `None` if one like it could be
    /// another matter.
    pub(crate) fn of(visit: &Visit, reason: Reason, centre: &str, status: StatusCode) -> Option<Self> {
        let rule = visit.rule_for(status);
        if rule.is_some_and(|rule| rule.edge_ttl.is_some() || rule.browser_ttl.is_some()) {
            return None;
        }
        let likeness = Likeness::of(visit, std::iter::empty())?;
        let (network, zone) = visit.place();
        let told = CacheStatus {
            cache: centre.to_owned(),
            forward: Some(reason.forward()),
            forward_status: Some(status.as_u16()),
            ..CacheStatus::default()
        };
        let (network, told) = (Arc::clone(network), told.to_string().into());
        Some(Self { likeness, network, zone, reason, status, told, is_in_vain: AtomicBool::new(false) })
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
    pub(crate) fn find(&self, now: Time, request: &Glance<'_>) -> Option<Arc<Way>> {
        let alike = self.table.get(&self.hash(request.peer.scheme, request.host, request.target))?;
        let way = alike.iter().find(|way| way.reason.stands(now) && way.likeness.is(request))?;
        (!way.is_in_vain.load(Relaxed)).then(|| Arc::clone(way))
    }

    pub(crate) fn add(&mut self, way: Way, now: Time) {
        if self.count >= MOST {
            self.clear();
        }
        let likeness = &way.likeness;
        let hash = self.hash(likeness.scheme(), likeness.host(), likeness.target());
        let alike = self.table.entry(hash).or_default();
        // What was in vain with the same status is so again.
        let is_known = |other: &Arc<Way>| {
            other.reason.stands(now) && other.likeness == way.likeness && other.status == way.status
        };
        if alike.iter().any(is_known) {
            return;
        }
        let before = alike.len();
        alike.retain(|other| other.reason.stands(now) && other.likeness != way.likeness);
        if alike.len() >= MOST_ALIKE {
            alike.remove(0);
        }
        alike.push(Arc::new(way));
        self.count = self.count + alike.len() - before;
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.table.clear();
        self.count = 0;
    }

    fn hash(&self, scheme: Scheme, host: &[u8], target: &str) -> u64 {
        self.hasher.hash_one((scheme == Scheme::Https, host, target))
    }
}

/// Requests of a core; of more, all are forgotten, and those that come again are added again.
const MOST: usize = 32_768;
/// Requests for one URL that differ in what counts; of more, the oldest go.
const MOST_ALIKE: usize = 8;
