//! The fast path for hits: per-core tables from request fingerprints to stored objects with prerendered
//! responses.

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

#[derive(Debug)]
pub(crate) struct Hits {
    in_memory: Alike<Hit>,
    /// Requests from peer data centres.
    of_others: Alike<OfOthers>,
    /// Objects that are only on disk, by the same hash.
    heads: Heads,
}

pub(crate) struct Match {
    place: Place,
    pub(crate) about: Option<Arc<[u8]>>,
}

enum Place {
    /// In memory, with the content coding of the response.
    Memory(Arc<Object>, Option<Coding>),
    /// In memory, for a peer data centre.
    ForOthers(Arc<Object>),
    Disk(Arc<Head>),
}

/// The object for all requests with one fingerprint.
#[derive(Debug)]
struct Hit {
    /// Weak, so that an evicted object is not kept in memory.
    object: Weak<Object>,
    coding: Option<Coding>,
    /// The version of the object for which the entry is valid.
    version: u64,
    /// The request details of the access log line; `None` without a log.
    about: Option<Arc<[u8]>>,
    /// The time of the last usage report to the store.
    told: Time,
}

/// The object for all requests of peers with one fingerprint.
#[derive(Debug)]
struct OfOthers {
    hit: Hit,
    /// The zone and the key that the peer must have sent.
    zone: Box<str>,
    key: KeyHash,
}

impl Hits {
    /// The table of one of `cores` cores; `memory` is the capacity of the memory store.
    pub(crate) fn new(memory: u64, cores: usize) -> Self {
        let (in_memory, of_others) = (Alike::default(), Alike::default());
        Self { in_memory, of_others, heads: Heads::new(memory, cores) }
    }

    /// The hit for a request in this shape; `None` if it needs the normal path.
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

    /// The hit for a peer's request for a whole object, if the peer has the same zone and key.
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
        // The prerendered header is for another rule of the same object: such requests use the normal path.
        if object.serving.ready_or(coding, shape, make).is_none_or(|ready| !ready.is_for(ttl)) {
            return;
        }
        self.in_memory.add(likeness, Hit::new(object, coding, lease, about), Hit::stands);
    }

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

    /// Adds a request for an object that is only on disk, with its response. `names` are additional fields
    /// that distinguish variants.
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

    #[cfg(test)]
    pub(crate) fn bytes_of_heads(&self) -> usize {
        self.heads.bytes()
    }

    pub(crate) fn clear(&mut self) {
        self.in_memory.clear();
        self.of_others.clear();
        self.heads.clear();
    }
}

impl Match {
    /// Writes the head of an HTTP/1.1 response, and returns its body; `None` if the body requires a blocking
    /// read.
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

    /// The HTTP/2 or HTTP/3 response; `None` if the body requires a blocking read.
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

    /// The object, if it may be served without revalidation.
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

    /// Reports usage to the store, which evicts unused objects. Not for each request, because it takes the
    /// lock of the store.
    fn tell(&mut self, store: &Store, object: &Object, now: Time) {
        if now >= self.told.after(TELLING) {
            self.told = now;
            store.touch(object);
        }
    }
}

fn shape(version: Version) -> Shape {
    if version == Version::HTTP_11 { Shape::Lines } else { Shape::Fields }
}
