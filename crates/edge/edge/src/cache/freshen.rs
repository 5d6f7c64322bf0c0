//! Updates a stored response from a later one: a 304, a 200 to HEAD, or a part of the same
//! representation.
//!
//! The merged header is judged like that of a new response (RFC 9111 sections 3, 3.2 and 4.3.4),
//! because the new response may be private or have another Vary.

use std::sync::Arc;

use http_cache::{
    NotStored, Terms, Time, VaryKey, invalidation,
    purge::{self},
    take_personal, update,
};
use http_stack::{HeaderMap, Method, header, limits::HEADER_BYTES};

use crate::{
    cache::response_order::SentRequest, fast_path::prerendered::PrerenderedSet,
    request::context::RequestContext, server::worker_state::WorkerState, store::memory::Object,
    util::compact_headers::compact,
};

pub(crate) struct Cacheable {
    pub(crate) terms: Terms,
    pub(crate) selection: VaryKey,
}

pub(crate) struct Freshened {
    pub(crate) object: Arc<Object>,
    pub(crate) client_headers: HeaderMap,
    /// If false, the object is only the response for this request, and not in the store.
    pub(crate) is_stored: bool,
}

impl WorkerState {
    /// Stores the result if it may be stored. Otherwise removes the stored response, unless the
    /// reason is in the request.
    pub(crate) fn freshen(
        &self,
        context: &RequestContext,
        stale: &Object,
        answer: &HeaderMap,
        (sent, now): (&SentRequest, Time),
    ) -> Freshened {
        let mut object =
            Object { sent_epoch: sent.epoch, request_number: sent.number(), ..Object::clone(stale) };
        let stored = &mut object.stored;
        // The stored Age does not apply to the new response.
        stored.headers.remove(header::AGE);
        update::refresh(&mut stored.headers, answer);
        let cacheable =
            self.check_cacheable(context, &Method::GET, (stored.status, &stored.headers), (sent, now));
        stored.terms = self.terms(context, stored.status, &stored.headers, (sent.time, now));
        let (tags, groups) = (purge::tags(&stored.headers), invalidation::groups(&stored.headers));
        if !tags.is_empty() {
            object.subject.tags = tags;
        }
        object.subject.groups = groups;
        let mut client_headers =
            take_personal(&mut stored.headers, &stored.terms.control, context.zone().set_cookie);
        // The new response marks fields as private that only the stored one contains: no client may
        // receive them.
        let outdated: Vec<_> =
            client_headers.keys().filter(|name| !answer.contains_key(*name)).cloned().collect();
        outdated.iter().for_each(|name| drop(client_headers.remove(name)));
        stored.headers.remove(purge::CACHE_TAG);
        stored.headers = compact(std::mem::take(&mut stored.headers));
        let cacheable = cacheable.and_then(|cacheable| {
            // Each update may add fields, so the merged header has the limit of one header.
            if header_bytes(&stored.headers) > HEADER_BYTES {
                Err(NotStored::TooLarge)
            } else {
                Ok(cacheable)
            }
        });
        let Cacheable { selection, .. } = match cacheable {
            Ok(cacheable) => cacheable,
            Err(reason) => {
                if supersedes_stored(reason) {
                    self.discard_stored(context, sent);
                }
                return Freshened { object: Arc::new(object), client_headers, is_stored: false };
            }
        };
        if !selection.names().eq(stored.selection.names()) {
            object = Object { prerendered: PrerenderedSet::default(), ..object };
            object.stored.selection = selection;
        }
        let object = self.add_to_store(context, object, sent, now);
        // The header may have grown, and the object may have been evicted during the request.
        self.store.recount(&object);
        if let Some(on_disk) = &self.disk {
            on_disk.refresh(&object, &context.headers, sent.clone());
        }
        Freshened { object, client_headers, is_stored: true }
    }

    /// Does nothing if a response to a later request has arrived already.
    pub(crate) fn add_to_store(
        &self,
        context: &RequestContext,
        object: Object,
        sent: &SentRequest,
        now: Time,
    ) -> Arc<Object> {
        sent.mark_answered(&context.key, &context.headers);
        let object = self.store.add(object, &context.headers, now);
        let is_passed_by = self.hit_for_miss.renew(&context.key, sent.number());
        if is_passed_by || sent.is_superseded(&object.stored.selection) {
            self.store.remove(&object);
        }
        object
    }

    pub(crate) fn discard_stored(&self, context: &RequestContext, sent: &SentRequest) {
        sent.mark_answered(&context.key, &context.headers);
        self.store.discard(&context.key, &context.headers, sent.number());
        self.discard_on_disk(context);
    }

    pub(crate) fn discard_on_disk(&self, context: &RequestContext) {
        if let Some(on_disk) = self.disk.as_ref().filter(|disk| disk.may_have(&context.key)) {
            on_disk.remove_matching(&context.key, &context.headers);
        }
    }
}

fn header_bytes(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len()).sum()
}

pub(crate) fn supersedes_stored(reason: NotStored) -> bool {
    !matches!(reason, NotStored::Authorization | NotStored::Client)
}
