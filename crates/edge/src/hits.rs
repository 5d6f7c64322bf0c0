//! What one core answers at once: requests as they came, and the object that is their answer.

use std::sync::{Arc, Weak};

use cache::{Coding, Form, Reuse, Terms, Time, Wishes};
use http::{Body, Bytes, HeaderName, Response, Version, Whole, header, server::Glance};
use tiers::KeyHash;

use crate::{
    alike::Alike,
    answer::browser_ttl,
    came::LARGE,
    heads::{Head, Heads},
    likeness::{Likeness, is_plain},
    ready::{OnlyOnDisk, Ready, Shape},
    store::{Lease, Object, Store, TELLING},
    visit::Visit,
};

/// Requests that a core answers at once.
#[derive(Debug)]
pub(crate) struct Hits {
    in_memory: Alike<Hit>,
    /// What other data centres ask for.
    of_others: Alike<OfOthers>,
    /// What is on disk alone, by the same hash.
    heads: Heads,
}

/// What answers a request.
pub(crate) struct Match {
    place: Place,
    /// What the log says of it, if there is one.
    pub(crate) about: Option<Arc<[u8]>>,
}

/// Where the answer is.
enum Place {
    /// In memory, with the content coding in which it is sent.
    Memory(Arc<Object>, Option<Coding>),
    /// The same for another data centre.
    ForOthers(Arc<Object>),
    Disk(Arc<Head>),
}

/// What answers requests that are the same.
#[derive(Debug)]
struct Hit {
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

/// What answers other data centres whose requests are the same.
#[derive(Debug)]
struct OfOthers {
    hit: Hit,
    /// The zone and the key by which they have to know the object.
    zone: Box<str>,
    key: KeyHash,
}

impl Hits {
    /// Those of one of so many cores, which have this much memory for objects together.
    pub(crate) fn new(memory: u64, cores: usize) -> Self {
        let (in_memory, of_others) = (Alike::default(), Alike::default());
        Self { in_memory, of_others, heads: Heads::new(memory, cores) }
    }

    /// What answers a request in this shape, and has done before; `None` if that takes more than a look.
    pub(crate) fn find(
        &mut self,
        store: &Store,
        now: Time,
        request: &Glance<'_>,
        shape: Shape,
    ) -> Option<Match> {
        let hash = self.in_memory.hash(request);
        self.in_memory(hash, store, now, request).or_else(|| {
            let head = self.heads.find(hash, store, now, request, shape)?;
            Some(Match { about: head.about.clone(), place: Place::Disk(head) })
        })
    }

    fn in_memory(&mut self, hash: u64, store: &Store, now: Time, request: &Glance<'_>) -> Option<Match> {
        let hit = self.in_memory.find(hash, request, |_| is_plain(request))?;
        let object = hit.fresh(store, now)?;
        Some(Match { place: Place::Memory(object, hit.coding), about: hit.about.clone() })
    }

    /// What answers another data centre's request for the whole of an object, as its visitor made it, that knows it by this zone and this key.
    pub(crate) fn find_for_others(
        &mut self,
        store: &Store,
        now: Time,
        request: &Glance<'_>,
        (zone, key): (&str, KeyHash),
    ) -> Option<Match> {
        let hash = self.of_others.hash(request);
        let of_others = self.of_others.find(hash, request, |_| true)?;
        let is_same = of_others.key == key && *of_others.zone == *zone;
        let object = is_same.then(|| of_others.hit.fresh(store, now)).flatten()?;
        Some(Match { place: Place::ForOthers(object), about: None })
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
        self.in_memory.add(likeness, Hit::new(object, coding, lease, about), Hit::stands);
    }

    /// Adds a request of another data centre, with the response that it got.
    pub(crate) fn add_of_others(
        &mut self,
        visit: &Visit,
        object: &Arc<Object>,
        form: Form,
        lease: &Lease,
        response: &Response<Body>,
    ) {
        let accepted = (form != Form::Only).then_some(&header::ACCEPT_ENCODING);
        let Some(likeness) = Likeness::of(visit, lease.names.iter().chain(accepted)) else { return };
        let make = || {
            let body = object.body.whole().filter(|body| body.len() as u64 <= LARGE)?;
            Ready::new(response, body, None, Shape::Lines)
        };
        if matches!(form, Form::Coded(_)) || object.serving.for_others_or(make).is_none() {
            return;
        }
        let (zone, key) = (visit.zone().name.as_str().into(), visit.key_hash());
        let hit = Hit::new(object, None, lease, None);
        self.of_others.add(likeness, OfOthers { hit, zone, key }, |of_others| of_others.hit.stands());
    }

    /// Adds a request for an object that is on disk alone, with the response that it got. Variants are told apart by fields with these
    /// names too.
    pub(crate) fn add_on_disk(
        &mut self,
        visit: &Visit,
        (object, only): (&Object, &OnlyOnDisk),
        form: Form,
        names: &[HeaderName],
        response: &Response<Body>,
        about: Option<Arc<[u8]>>,
    ) {
        let accepted = (form != Form::Only).then_some(&header::ACCEPT_ENCODING);
        let names = names.iter().chain(only.names.iter()).chain(object.stored.selection.names());
        let Some(likeness) = Likeness::of(visit, names.chain(accepted)) else { return };
        let (ttl, shape) = (browser_ttl(visit, response.status()), shape(visit.version));
        let ready = object.body.whole().and_then(|body| Ready::new(response, body, ttl, shape));
        let Some(ready) = ready else { return };
        let hash = self.in_memory.hash_of(&likeness);
        self.heads.add(hash, likeness, Head::new(object, only, ready.without_body(), about), only.epoch);
    }

    /// Bytes of what is kept of objects that are on disk alone.
    #[cfg(test)]
    pub(crate) fn bytes_of_heads(&self) -> usize {
        self.heads.bytes()
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.in_memory.clear();
        self.of_others.clear();
        self.heads.clear();
    }
}

impl Match {
    /// Writes the head of a response over HTTP/1.1, and returns its body; `None` if that would have to be waited for.
    pub(crate) fn write(&self, request: &Glance<'_>, now: Time, head: &mut Vec<u8>) -> Option<Whole> {
        let (ready, terms) = self.ready(Shape::Lines)?;
        let body = match &self.place {
            _ if request.is_head => Bytes::new().into(),
            Place::Memory(..) | Place::ForOthers(_) => ready.body().into(),
            Place::Disk(head) => head.body(now)?,
        };
        ready.write(terms, now, head);
        Some(body)
    }

    /// The response over HTTP/2 or HTTP/3; `None` in the same case.
    pub(crate) fn response(&self, request: &Glance<'_>, now: Time) -> Option<Response<Bytes>> {
        let (ready, terms) = self.ready(Shape::Fields)?;
        let body = match &self.place {
            _ if request.is_head => Bytes::new(),
            Place::Memory(..) | Place::ForOthers(_) => ready.body(),
            Place::Disk(head) => head.read(now)?,
        };
        ready.response(terms, now, body)
    }

    fn ready(&self, shape: Shape) -> Option<(&Ready, &Terms)> {
        Some(match &self.place {
            Place::Memory(object, coding) => (object.serving.ready(*coding, shape)?, &object.stored.terms),
            Place::ForOthers(object) => (object.serving.for_others()?, &object.stored.terms),
            Place::Disk(head) => (&head.ready, &head.terms),
        })
    }
}

impl Hit {
    fn new(object: &Arc<Object>, coding: Option<Coding>, lease: &Lease, about: Option<Arc<[u8]>>) -> Self {
        let (object, version) = (Arc::downgrade(object), lease.version);
        Self { object, coding, version, about, told: Time::from_millis(0) }
    }

    /// Its object, if that may be used without asking anybody.
    fn fresh(&mut self, store: &Store, now: Time) -> Option<Arc<Object>> {
        let object = self.object.upgrade().filter(|object| object.serving.version() == self.version)?;
        if object.stored.reuse(Wishes::default(), now) != Reuse::Fresh {
            return None;
        }
        self.tell(store, &object, now);
        Some(object)
    }

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
