//! Lookups on disk before a request is forwarded.
//!
//! The body of a disk object is read into memory once for all its readers. Very large bodies stay on disk. A
//! small, rarely requested body is read from the disk for each request.

use std::sync::Arc;

use ::disk::Body;
use cache::{Form, Reuse, Time};
use http::{Bytes, Failure};
use tokio::task::spawn_blocking;

use crate::{
    compress::usual_form,
    core::Core,
    on_disk::{OfDisk, Place},
    ready::OnlyOnDisk,
    store::{Found, Object},
    visit::Visit,
};

impl Core {
    /// Looks up a request in memory and, if that needs no waiting, on disk. A purged object is outdated from
    /// `now`.
    pub(crate) fn find(self: &Arc<Self>, visit: &Visit, now: Time) -> Found {
        let found = self.store.find(&visit.key, &visit.headers);
        let on_disk = self.on_disk.as_ref().filter(|_| !matches!(found, Found::Object(_)));
        let Some(on_disk) = on_disk.filter(|disk| disk.may_have(&visit.key)) else { return found };
        let targets = &visit.zone().targets;
        let at_once = on_disk.search_at_once(&visit.key, &visit.headers, targets, self.store.share());
        at_once.and_then(|of_disk| self.take_in(visit, of_disk, None, now)).map_or(found, Found::Object)
    }

    /// Looks up a request on disk. The body of the returned object may still be loading.
    pub(crate) async fn from_disk(self: &Arc<Self>, visit: &Visit) -> Option<Arc<Object>> {
        let on_disk = self.on_disk.as_ref().filter(|disk| disk.may_have(&visit.key))?;
        let targets = &visit.zone().targets;
        let search = on_disk.search(&visit.key, &visit.headers, targets, self.store.share());
        let (found, place) = on_disk.wait_for(search).await?;
        self.take_in(visit, found?, Some(place), self.now())
    }

    /// Adds a disk object to the memory store and reads the rest of its body with the disk permit `place`, or
    /// with a new one. If memory would not admit the object, it stays on disk only. `None` if it was purged,
    /// or if too many reads from a slow disk are waiting.
    fn take_in(
        self: &Arc<Self>,
        visit: &Visit,
        mut found: OfDisk,
        place: Option<Place>,
        now: Time,
    ) -> Option<Arc<Object>> {
        if let Some(only) = self.only_on_disk(visit, &found, now) {
            found.object.serving.only_on_disk = Some(Box::new(only));
            return Some(Arc::new(found.object));
        }
        let rest = match found.rest.take() {
            Some(body) => Some((body, place.or_else(|| self.on_disk.as_ref()?.place())?)),
            None => None,
        };
        let object = self.store.add(found.object.clone(), &visit.headers, now);
        // A purged object is not added. If an identical object was added concurrently, this copy can still be
        // served.
        if self.store.is_purged(&object) {
            spawn_blocking(move || found.remove());
            return None;
        }
        match rest {
            Some((body, place)) => {
                let (core, filled) = (Arc::clone(self), Arc::clone(&object));
                spawn_blocking(move || {
                    pour(&core, &filled, &found, body);
                    drop(place);
                });
            }
            None => self.store.settle(&object),
        }
        Some(object)
    }
}

impl Core {
    /// How to read an object again that stays on disk, because it would evict another one from memory. `None`
    /// if it is admitted.
    fn only_on_disk(&self, visit: &Visit, found: &OfDisk, now: Time) -> Option<OnlyOnDisk> {
        let (object, body) = (&found.object, found.short.clone()?);
        // Compressed or revalidated objects are added to memory, so that this work is done once.
        let is_plain = object.stored.reuse(visit.wishes, now) == Reuse::Fresh
            && !matches!(usual_form(visit, object), Form::Coded(_));
        let epoch = is_plain.then(|| self.store.leave_out(object)).flatten()?;
        Some(OnlyOnDisk { body, names: found.names.clone(), epoch })
    }
}

fn pour(core: &Core, object: &Object, found: &OfDisk, body: Body) {
    let fill = &object.body;
    for piece in body {
        match piece {
            Ok(piece) => fill.push(Bytes::from_owner(piece)),
            Err(error) => {
                tracing::warn!(%error, key = %object.key, "an object on disk cannot be read");
                fill.finish(Err(Failure::Source));
                core.store.remove(object);
                found.remove();
                return;
            }
        }
    }
    fill.finish(Ok(()));
    core.store.settle(object);
}
