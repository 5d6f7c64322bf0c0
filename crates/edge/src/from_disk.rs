//! From the disk: an object that is looked for there before its origin is asked. Its body is read into memory for all who wait, unless
//! it is so long that it stays on disk. A short one is read for each who asks while memory has no room for it, and nobody asks often.

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
    /// What there is for a request in memory, or can be had from the disk without waiting for it. What was purged is out of date from
    /// this time on.
    pub(crate) fn find(self: &Arc<Self>, visit: &Visit, now: Time) -> Found {
        let found = self.store.find(&visit.key, &visit.headers);
        let on_disk = self.on_disk.as_ref().filter(|_| !matches!(found, Found::Object(_)));
        let Some(on_disk) = on_disk.filter(|disk| disk.may_have(&visit.key)) else { return found };
        let targets = &visit.zone().targets;
        let at_once = on_disk.search_at_once(&visit.key, &visit.headers, targets, self.store.share());
        at_once.and_then(|of_disk| self.take_in(visit, of_disk, None, now)).map_or(found, Found::Object)
    }

    /// What the disk has for a request, if it may still be used; its body may still be coming.
    pub(crate) async fn from_disk(self: &Arc<Self>, visit: &Visit) -> Option<Arc<Object>> {
        let on_disk = self.on_disk.as_ref().filter(|disk| disk.may_have(&visit.key))?;
        let targets = &visit.zone().targets;
        let search = on_disk.search(&visit.key, &visit.headers, targets, self.store.share());
        let (found, place) = on_disk.wait_for(search).await?;
        self.take_in(visit, found?, Some(place), self.now())
    }

    /// Adds what was found to the store, and has the rest of its body read, at the `place` of the one who found it if there is one;
    /// unless it is as well off on disk. `None` if too many read from a slow disk for that.
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
        // One that was purged is not added. One in whose place somebody else has just put the same is as good as that.
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
    /// How an object is had again that is answered with as it is, and would take the place of another one in memory for nothing.
    fn only_on_disk(&self, visit: &Visit, found: &OfDisk, now: Time) -> Option<OnlyOnDisk> {
        let (object, body) = (&found.object, found.short.clone()?);
        // What has to be coded or confirmed is so once for all.
        let is_plain = object.stored.reuse(visit.wishes, now) == Reuse::Fresh
            && !matches!(usual_form(visit, object), Form::Coded(_));
        let epoch = is_plain.then(|| self.store.leave_out(object)).flatten()?;
        Some(OnlyOnDisk { body, names: found.names.clone(), epoch })
    }
}

/// Reads a body. Blocks.
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
