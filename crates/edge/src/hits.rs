//! What one core answers at once: requests as they came, and the object that is their answer.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    sync::{Arc, Weak},
    time::Duration,
};

use cache::{Coding, Form, Reuse, Time, Wishes};
use http::{Body, Bytes, Response, Scheme, Version, header, server::Glance};

use crate::{
    answer::browser_ttl,
    likeness::{Likeness, is_plain},
    ready::{Ready, Shape},
    store::{Lease, Object, Store},
    visit::Visit,
};

/// Requests that a core answers at once.
#[derive(Debug, Default)]
pub(crate) struct Hits {
    hasher: RandomState,
    /// By the hash of scheme, host and target.
    table: HashMap<u64, Vec<Hit>>,
    count: usize,
}

/// What answers a request.
pub(crate) struct Match {
    object: Arc<Object>,
    /// The content coding in which it is sent.
    coding: Option<Coding>,
    /// What the log says of it, if there is one.
    pub(crate) about: Option<Arc<[u8]>>,
}

/// A request, and what answers it.
#[derive(Debug)]
struct Hit {
    likeness: Likeness,
    /// Bodies are the store's: what was evicted there is not kept here.
    object: Weak<Object>,
    /// The content coding in which it is sent.
    coding: Option<Coding>,
    /// The object's version for which this holds.
    version: u64,
    /// What the log says of it, if there is one.
    about: Option<Arc<[u8]>>,
    /// When the store was last told that the object is in use.
    told: Time,
}

impl Hits {
    /// What answers a request, and has done before; `None` if that takes more than a look.
    pub(crate) fn find(&mut self, store: &Store, now: Time, request: &Glance<'_>) -> Option<Match> {
        let hash = self.hash(request.peer.scheme, request.host, request.target);
        let alike = self.table.get_mut(&hash)?;
        if !is_plain(request) {
            return None;
        }
        let hit = alike.iter_mut().find(|hit| hit.likeness.is(request))?;
        let object = hit.object.upgrade().filter(|object| object.serving.version() == hit.version)?;
        if object.stored.reuse(Wishes::default(), now) != Reuse::Fresh {
            return None;
        }
        hit.tell(store, &object, now);
        Some(Match { object, coding: hit.coding, about: hit.about.clone() })
    }

    /// Adds a request, with the response that it got.
    pub(crate) fn add(
        &mut self,
        visit: &Visit,
        object: &Arc<Object>,
        form: Form,
        lease: &Lease,
        response: &Response<Body>,
        about: Option<Arc<[u8]>>,
    ) {
        let accepted = (form != Form::Only).then_some(&header::ACCEPT_ENCODING);
        let Some(likeness) = Likeness::of(visit, lease.names.iter().chain(accepted)) else { return };
        let ttl = browser_ttl(visit, response.status());
        let (coding, body) = match form {
            Form::Coded(coding) => (Some(coding), object.body.coded(coding)),
            Form::Only | Form::Identity => (None, Some(&object.body)),
        };
        let shape = shape(visit.version);
        let make = || Ready::new(response, body?.whole()?, ttl, shape);
        // Another rule made another header of the same object: those requests are answered without haste.
        if object.serving.ready_or(coding, shape, make).is_none_or(|ready| !ready.is_for(ttl)) {
            return;
        }
        if self.count >= MOST {
            self.clear();
        }
        let hash = self.hash(visit.peer.scheme, likeness.host(), likeness.target());
        let alike = self.table.entry(hash).or_default();
        let before = alike.len();
        alike.retain(|hit| hit.stands() && hit.likeness != likeness);
        if alike.len() >= MOST_ALIKE {
            alike.remove(0);
        }
        alike.push(Hit {
            likeness,
            object: Arc::downgrade(object),
            coding,
            version: lease.version,
            about,
            told: Time::from_millis(0),
        });
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

impl Match {
    /// Writes the head of a response over HTTP/1.1, and returns its body.
    pub(crate) fn write(&self, request: &Glance<'_>, now: Time, head: &mut Vec<u8>) -> Option<Bytes> {
        let ready = self.object.serving.ready(self.coding, Shape::Lines)?;
        ready.write(&self.object.stored.terms, now, head);
        Some(if request.is_head { Bytes::new() } else { ready.body() })
    }

    /// The response over HTTP/2 or HTTP/3.
    pub(crate) fn response(&self, request: &Glance<'_>, now: Time) -> Option<Response<Bytes>> {
        let ready = self.object.serving.ready(self.coding, Shape::Fields)?;
        ready.response(&self.object.stored.terms, now, request.is_head)
    }
}

impl Hit {
    fn stands(&self) -> bool {
        self.object.upgrade().is_some_and(|object| object.serving.version() == self.version)
    }

    /// Tells the store, which evicts what is not used; not at each request, as that takes its lock.
    fn tell(&mut self, store: &Store, object: &Object, now: Time) {
        if now >= self.told.after(TELLING) {
            self.told = now;
            store.touch(object);
        }
    }
}

/// How responses are written in a version of HTTP.
fn shape(version: Version) -> Shape {
    if version == Version::HTTP_11 { Shape::Lines } else { Shape::Fields }
}

/// Requests of a core; of more, all are forgotten, and those that come again are added again.
const MOST: usize = 32_768;
/// Requests for one URL that differ in what counts; of more, the oldest go.
const MOST_ALIKE: usize = 8;
/// Between two times that the store is told of the same object.
const TELLING: Duration = Duration::from_secs(1);
