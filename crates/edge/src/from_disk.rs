//! From the disk into memory: an object that is looked for there before its origin is asked, and its body for all who wait.

use std::sync::Arc;

use http::{Bytes, Failure};
use tokio::task::spawn_blocking;

use crate::{core::Core, on_disk::OfDisk, store::Object, visit::Visit};

impl Core {
    /// What the disk has for a request, if it may still be used; its body may still be coming.
    pub(crate) async fn from_disk(self: &Arc<Self>, visit: &Visit) -> Option<Arc<Object>> {
        let on_disk = self.on_disk.as_ref().filter(|disk| disk.may_have(&visit.key))?;
        let search = on_disk.search(&visit.key, &visit.headers, &visit.zone().targets);
        let found = spawn_blocking(search).await.ok().flatten()?;
        let object = self.store.add(found.object.clone(), &visit.headers, self.now());
        // One that was purged is not added.
        if self.store.lease(&object).is_none() {
            found.remove();
            return None;
        }
        let (core, filled) = (Arc::clone(self), Arc::clone(&object));
        spawn_blocking(move || pour(&core, &filled, found));
        Some(object)
    }
}

/// Reads a body. Blocks.
fn pour(core: &Core, object: &Object, mut found: OfDisk) {
    let fill = &object.body;
    for piece in &mut found.body {
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
