//! The fast path for hits: per-core tables from request fingerprints to stored objects with
//! prerendered responses.

use std::sync::{Arc, Weak};

use http_cache::{Coding, Form, RequestDirectives, Reuse, Terms, Time};
use http_stack::{Body, Bytes, CompleteBody, HeaderName, Response, Version, header, server::RequestView};
use tier_routing::KeyHash;

use crate::{
    fast_path::{
        disk_heads::{DiskHead, DiskHeadCache},
        fingerprint::{RequestFingerprint, is_plain},
        prerendered::{DiskOnly, HeadFormat, Prerendered},
        request_table::RequestTable,
    },
    peers::headers::BULK_THRESHOLD,
    request::context::RequestContext,
    response::build::browser_ttl,
    store::memory::{EntryLease, MemoryStore, Object, TOUCH_INTERVAL},
    telemetry::delivery::HitNotes,
};

#[derive(Debug)]
pub(crate) struct HitTable {
    in_memory: RequestTable<Hit>,
    for_peers: RequestTable<PeerHit>,
    disk_heads: DiskHeadCache,
}

pub(crate) struct FastHit {
    location: HitLocation,
    /// `None` for peers, whose requests have no metrics.
    pub(crate) notes: Option<HitNotes>,
}

enum HitLocation {
    Memory(Arc<Object>, Option<Coding>),
    Peer(Arc<Object>),
    Disk(Arc<DiskHead>),
}

#[derive(Debug)]
struct Hit {
    /// Weak, so that an evicted object is not kept in memory.
    object: Weak<Object>,
    coding: Option<Coding>,
    version: u64,
    notes: Option<HitNotes>,
    last_touch: Time,
}

#[derive(Debug)]
struct PeerHit {
    hit: Hit,
    zone: Box<str>,
    key: KeyHash,
    rules: Option<Box<str>>,
}

impl HitTable {
    pub(crate) fn new(memory: u64, workers: usize) -> Self {
        let (in_memory, of_others) = (RequestTable::default(), RequestTable::default());
        Self { in_memory, for_peers: of_others, disk_heads: DiskHeadCache::new(memory, workers) }
    }

    pub(crate) fn find(
        &mut self,
        store: &MemoryStore,
        now: Time,
        request: &RequestView<'_>,
        head_format: HeadFormat,
    ) -> Option<FastHit> {
        let hash = self.in_memory.hash(request);
        self.in_memory(hash, store, now, request).or_else(|| {
            let head = self.disk_heads.find(hash, store, now, request, head_format)?;
            Some(FastHit { notes: Some(head.notes.clone()), location: HitLocation::Disk(head) })
        })
    }

    fn in_memory(
        &mut self,
        hash: u64,
        store: &MemoryStore,
        now: Time,
        request: &RequestView<'_>,
    ) -> Option<FastHit> {
        let hit = self.in_memory.find(hash, request, |_| is_plain(request))?;
        let object = hit.fresh_object(store, now)?;
        Some(FastHit { location: HitLocation::Memory(object, hit.coding), notes: hit.notes.clone() })
    }

    pub(crate) fn find_for_peer(
        &mut self,
        store: &MemoryStore,
        now: Time,
        request: &RequestView<'_>,
        (zone, key, rules): (&str, KeyHash, Option<&str>),
    ) -> Option<FastHit> {
        let hash = self.for_peers.hash(request);
        let of_others = self.for_peers.find(hash, request, |_| true)?;
        let is_same = of_others.key == key && *of_others.zone == *zone && of_others.rules.as_deref() == rules;
        let object = is_same.then(|| of_others.hit.fresh_object(store, now)).flatten()?;
        Some(FastHit { location: HitLocation::Peer(object), notes: None })
    }

    pub(crate) fn add(
        &mut self,
        context: &RequestContext,
        object: &Arc<Object>,
        form: Form,
        lease: &EntryLease,
        response: &Response<Body>,
        notes: HitNotes,
    ) {
        let accepted = (form != Form::Only).then_some(&header::ACCEPT_ENCODING);
        let Some(fingerprint) = RequestFingerprint::of(context, lease.names.iter().chain(accepted)) else {
            return;
        };
        let ttl = browser_ttl(context, response.status());
        let (coding, body) = match form {
            Form::Coded(coding) => (Some(coding), object.body.encoded(coding)),
            Form::Only | Form::Identity => (None, Some(&object.body)),
        };
        let head_format = head_format(context.version);
        let changes = context.response_changes.as_ref();
        let make = || Prerendered::new(response, body?.whole()?, (ttl, changes.cloned()), head_format);
        let ready = object.prerendered.get_or(coding, head_format, make);
        // The prerendered header may be for other rules of the same object.
        if ready.is_none_or(|ready| !ready.matches_rules(ttl, changes)) {
            return;
        }
        self.in_memory.insert(fingerprint, Hit::new(object, coding, lease, Some(notes)), Hit::is_valid);
    }

    pub(crate) fn add_for_peer(
        &mut self,
        context: &RequestContext,
        object: &Arc<Object>,
        form: Form,
        lease: &EntryLease,
        response: &Response<Body>,
    ) {
        let accepted = (form != Form::Only).then_some(&header::ACCEPT_ENCODING);
        let Some(fingerprint) = RequestFingerprint::of(context, lease.names.iter().chain(accepted)) else {
            return;
        };
        let make = || {
            let body = object.body.whole().filter(|body| body.len() as u64 <= BULK_THRESHOLD)?;
            Prerendered::new(response, body, (None, None), HeadFormat::Http1)
        };
        if matches!(form, Form::Coded(_)) || object.prerendered.for_peers_or(make).is_none() {
            return;
        }
        let (zone, key) = (context.zone().name.as_str().into(), context.key_hash());
        let hit = Hit::new(object, None, lease, None);
        let rules = context.forwarded.as_ref().and_then(|forwarded| forwarded.rules.as_deref());
        let rules = rules.map(Box::from);
        self.for_peers
            .insert(fingerprint, PeerHit { hit, zone, key, rules }, |of_others| of_others.hit.is_valid());
    }

    pub(crate) fn add_disk_only(
        &mut self,
        context: &RequestContext,
        (object, only): (&Object, &DiskOnly),
        form: Form,
        names: &[HeaderName],
        response: &Response<Body>,
        notes: HitNotes,
    ) {
        let accepted = (form != Form::Only).then_some(&header::ACCEPT_ENCODING);
        let names = names.iter().chain(only.names.iter()).chain(object.stored.selection.names());
        let Some(fingerprint) = RequestFingerprint::of(context, names.chain(accepted)) else { return };
        let (ttl, head_format) = (browser_ttl(context, response.status()), head_format(context.version));
        let rules = (ttl, context.response_changes.clone());
        let ready = object.body.whole().and_then(|body| Prerendered::new(response, body, rules, head_format));
        let Some(ready) = ready else { return };
        let hash = self.in_memory.hash_of(&fingerprint);
        self.disk_heads.add(
            hash,
            fingerprint,
            DiskHead::new(object, only, ready.without_body(), notes),
            only.epoch,
        );
    }

    #[cfg(test)]
    pub(crate) fn disk_head_bytes(&self) -> usize {
        self.disk_heads.bytes()
    }

    pub(crate) fn clear(&mut self) {
        self.in_memory.clear();
        self.for_peers.clear();
        self.disk_heads.clear();
    }
}

impl FastHit {
    pub(crate) fn write(
        &self,
        request: &RequestView<'_>,
        now: Time,
        head: &mut Vec<u8>,
    ) -> Option<CompleteBody> {
        let (ready, terms) = self.prerendered(HeadFormat::Http1)?;
        let body = match &self.location {
            _ if request.is_head => Bytes::new().into(),
            HitLocation::Memory(..) | HitLocation::Peer(_) => ready.body().into(),
            HitLocation::Disk(head) => head.body(now)?,
        };
        ready.write(terms, now, head);
        Some(body)
    }

    pub(crate) fn response(&self, request: &RequestView<'_>, now: Time) -> Option<Response<Bytes>> {
        let (ready, terms) = self.prerendered(HeadFormat::HeaderMap)?;
        let body = match &self.location {
            _ if request.is_head => Bytes::new(),
            HitLocation::Memory(..) | HitLocation::Peer(_) => ready.body(),
            HitLocation::Disk(head) => head.read(now)?,
        };
        ready.response(terms, now, body)
    }

    fn prerendered(&self, head_format: HeadFormat) -> Option<(&Prerendered, &Terms)> {
        Some(match &self.location {
            HitLocation::Memory(object, coding) => {
                (object.prerendered.get(*coding, head_format)?, &object.stored.terms)
            }
            HitLocation::Peer(object) => (object.prerendered.for_peers()?, &object.stored.terms),
            HitLocation::Disk(head) => (&head.prerendered, &head.terms),
        })
    }
}

impl Hit {
    fn new(
        object: &Arc<Object>,
        coding: Option<Coding>,
        lease: &EntryLease,
        notes: Option<HitNotes>,
    ) -> Self {
        let (object, version) = (Arc::downgrade(object), lease.version);
        Self { object, coding, version, notes, last_touch: Time::from_millis(0) }
    }

    fn fresh_object(&mut self, store: &MemoryStore, now: Time) -> Option<Arc<Object>> {
        let object = self.object.upgrade().filter(|object| object.prerendered.version() == self.version)?;
        if object.stored.reuse(RequestDirectives::default(), now) != Reuse::Fresh {
            return None;
        }
        self.touch_store(store, &object, now);
        Some(object)
    }

    fn is_valid(&self) -> bool {
        self.object.upgrade().is_some_and(|object| object.prerendered.version() == self.version)
    }

    /// The store evicts unused objects. Not called for each request, because it takes the lock of
    /// the store.
    fn touch_store(&mut self, store: &MemoryStore, object: &Object, now: Time) {
        if now >= self.last_touch.after(TOUCH_INTERVAL) {
            self.last_touch = now;
            store.touch(object);
        }
    }
}

fn head_format(version: Version) -> HeadFormat {
    if version == Version::HTTP_11 { HeadFormat::Http1 } else { HeadFormat::HeaderMap }
}
