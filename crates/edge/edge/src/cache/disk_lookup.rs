//! Lookups on disk before a request is forwarded.
//!
//! The body of a disk object is read into memory once for all its readers. Very large bodies stay
//! on disk. A small, rarely requested body is read from the disk for each request.

use std::sync::Arc;

use ::segment_store::Body;
use http_cache::{Form, Reuse, Time};
use http_stack::{Bytes, Failure};
use tokio::task::spawn_blocking;

use crate::{
    fast_path::prerendered::DiskOnly,
    request::context::RequestContext,
    response::compress::default_form,
    server::worker_state::WorkerState,
    store::{
        disk::{DiskObject, ReadPermit},
        memory::{Lookup, Object},
    },
};

impl WorkerState {
    /// Does not wait for the disk. A purged object is outdated from `now`.
    pub(crate) fn lookup(self: &Arc<Self>, context: &RequestContext, now: Time) -> Lookup {
        let found = self.store.find(&context.key, &context.headers);
        let on_disk = self.disk.as_ref().filter(|_| !matches!(found, Lookup::Object(_)));
        let Some(on_disk) = on_disk.filter(|disk| disk.may_have(&context.key)) else { return found };
        let targets = &context.zone().targets;
        let at_once = on_disk.search_nonblocking(&context.key, &context.headers, targets, self.store.share());
        at_once
            .and_then(|of_disk| self.add_disk_object(context, of_disk, None, now))
            .map_or(found, Lookup::Object)
    }

    pub(crate) async fn lookup_on_disk(self: &Arc<Self>, context: &RequestContext) -> Option<Arc<Object>> {
        let on_disk = self.disk.as_ref().filter(|disk| disk.may_have(&context.key))?;
        let targets = &context.zone().targets;
        let search = on_disk.search(&context.key, &context.headers, targets, self.store.share());
        let (found, place) = on_disk.read_blocking(search).await?;
        self.add_disk_object(context, found?, Some(place), self.now())
    }

    /// Uses the disk permit `place`, or a new one. If memory would not admit the object, it stays
    /// on disk only. `None` if it was purged, or if too many reads from a slow disk are waiting.
    fn add_disk_object(
        self: &Arc<Self>,
        context: &RequestContext,
        mut found: DiskObject,
        place: Option<ReadPermit>,
        now: Time,
    ) -> Option<Arc<Object>> {
        if let Some(only) = self.disk_only(context, &found, now) {
            found.object.prerendered.disk_only = Some(Box::new(only));
            return Some(Arc::new(found.object));
        }
        let rest = match found.rest.take() {
            Some(body) => Some((body, place.or_else(|| self.disk.as_ref()?.try_permit())?)),
            None => None,
        };
        let object = self.store.add(found.object.clone(), &context.headers, now);
        // A purged object is not added. If an identical object was added concurrently, this copy
        // can still be served.
        if self.store.is_purged(&object) {
            spawn_blocking(move || found.remove());
            return None;
        }
        match rest {
            Some((body, place)) => {
                let (worker, filled) = (Arc::clone(self), Arc::clone(&object));
                spawn_blocking(move || {
                    load_body(&worker, &filled, &found, body);
                    drop(place);
                });
            }
            None => self.store.settle(&object),
        }
        Some(object)
    }
}

impl WorkerState {
    fn disk_only(&self, context: &RequestContext, found: &DiskObject, now: Time) -> Option<DiskOnly> {
        let (object, body) = (&found.object, found.short.clone()?);
        // Compressed or revalidated objects are added to memory, so that this work is done once.
        let is_plain = object.stored.reuse(context.wishes, now) == Reuse::Fresh
            && !matches!(default_form(context, object), Form::Coded(_));
        let epoch = is_plain.then(|| self.store.should_leave_on_disk(object)).flatten()?;
        Some(DiskOnly { body, names: found.names.clone(), epoch })
    }
}

fn load_body(worker: &WorkerState, object: &Object, found: &DiskObject, body: Body) {
    let fill = &object.body;
    for piece in body {
        match piece {
            Ok(piece) => fill.push(Bytes::from_owner(piece)),
            Err(error) => {
                tracing::warn!(%error, key = %object.key, "an object on disk cannot be read");
                fill.finish(Err(Failure::Source));
                worker.store.remove(object);
                found.remove();
                return;
            }
        }
    }
    fill.finish(Ok(()));
    worker.store.settle(object);
}
