//! Updates a stored response from a later one: a 304, a 200 to HEAD, or a part of the same representation.
//!
//! The merged header is judged like that of a new response (RFC 9111 sections 3, 3.2 and 4.3.4), because the
//! new response may be private or have another Vary.

use std::sync::Arc;

use cache::{
    NotStored, Selection, Terms, Time, invalidation,
    purge::{self},
    take_personal, update,
};
use http::{HeaderMap, Method, header, limits::HEADER_BYTES};

use crate::{compact::compact, core::Core, in_flight::Sent, ready::Serving, store::Object, visit::Visit};

/// The freshness and the variant of a response that may be stored.
pub(crate) struct Judged {
    pub(crate) terms: Terms,
    pub(crate) selection: Selection,
}

pub(crate) struct Confirmed {
    pub(crate) object: Arc<Object>,
    /// Fields that are only for this client.
    pub(crate) personal: HeaderMap,
    /// Whether other requests may reuse the object. If not, it is only the response for this request, and not
    /// in the store.
    pub(crate) is_stored: bool,
}

impl Core {
    /// Merges a response into the stored response that it confirms, and stores the result if it may be
    /// stored. Otherwise removes the stored response, unless the reason is in the request.
    pub(crate) fn confirm(
        &self,
        visit: &Visit,
        stale: &Object,
        answer: &HeaderMap,
        (sent, now): (&Sent, Time),
    ) -> Confirmed {
        let mut object = Object { began: sent.epoch, asked: sent.number(), ..Object::clone(stale) };
        let stored = &mut object.stored;
        // The stored Age does not apply to the new response.
        stored.headers.remove(header::AGE);
        update::refresh(&mut stored.headers, answer);
        let judged = self.judge(visit, &Method::GET, (stored.status, &stored.headers), (sent, now));
        stored.terms = self.terms(visit, stored.status, &stored.headers, (sent.time, now));
        let (tags, groups) = (purge::tags(&stored.headers), invalidation::groups(&stored.headers));
        if !tags.is_empty() {
            object.subject.tags = tags;
        }
        object.subject.groups = groups;
        let mut personal = take_personal(&mut stored.headers, &stored.terms.control, visit.zone().set_cookie);
        // The new response marks fields as private that only the stored one contains: no client may receive
        // them.
        let outdated: Vec<_> = personal.keys().filter(|name| !answer.contains_key(*name)).cloned().collect();
        outdated.iter().for_each(|name| drop(personal.remove(name)));
        stored.headers.remove(purge::CACHE_TAG);
        stored.headers = compact(std::mem::take(&mut stored.headers));
        let judged = judged.and_then(|judged| {
            // Each update may add fields, so the merged header has the limit of one header.
            if header_bytes(&stored.headers) > HEADER_BYTES { Err(NotStored::TooLarge) } else { Ok(judged) }
        });
        let Judged { selection, .. } = match judged {
            Ok(judged) => judged,
            Err(reason) => {
                if counts(reason) {
                    self.end_use(visit, sent);
                }
                return Confirmed { object: Arc::new(object), personal, is_stored: false };
            }
        };
        if !selection.names().eq(stored.selection.names()) {
            object = Object { serving: Serving::default(), ..object };
            object.stored.selection = selection;
        }
        let object = self.add(visit, object, sent, now);
        // The header may have grown, and the object may have been evicted during the request.
        self.store.recount(&object);
        if let Some(on_disk) = &self.on_disk {
            on_disk.refresh(&object, &visit.headers, sent.clone());
        }
        Confirmed { object, personal, is_stored: true }
    }

    /// Adds an object to the store, unless a response to a later request has arrived already.
    pub(crate) fn add(&self, visit: &Visit, object: Object, sent: &Sent, now: Time) -> Arc<Object> {
        sent.is_answered(&visit.key, &visit.headers);
        let object = self.store.add(object, &visit.headers, now);
        let is_passed_by = self.passing.renew(&visit.key, sent.number());
        if is_passed_by || sent.is_superseded(&object.stored.selection) {
            self.store.remove(&object);
        }
        object
    }

    /// Removes the stored objects for a request, because the origin has another response now. Responses to
    /// later requests stay in memory.
    pub(crate) fn end_use(&self, visit: &Visit, sent: &Sent) {
        sent.is_answered(&visit.key, &visit.headers);
        self.store.end_use(&visit.key, &visit.headers, sent.number());
        self.forget_on_disk(visit);
    }

    pub(crate) fn forget_on_disk(&self, visit: &Visit) {
        if let Some(on_disk) = self.on_disk.as_ref().filter(|disk| disk.may_have(&visit.key)) {
            on_disk.forget(&visit.key, &visit.headers);
        }
    }
}

fn header_bytes(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len()).sum()
}

/// Whether a response that is not stored for this reason invalidates the stored one: not if the reason is in
/// the request.
pub(crate) fn counts(reason: NotStored) -> bool {
    !matches!(reason, NotStored::Authorization | NotStored::Client)
}
