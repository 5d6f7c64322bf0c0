//! Values that are cached here, in memory or on disk: as responses, and for conditional requests to
//! upper tiers.

use std::{sync::Arc, time::Duration};

use http_stack::Body;
use kv::Tier;

use super::wire::Said;
use crate::{
    service::{Service, now},
    value::{Content, DiskValue, Found, MemoryValue, NotFound},
    value_cache::{CachedState, Name},
};

impl Service {
    /// Regardless of its age.
    pub(super) async fn had(&self, name: &Name) -> Option<CachedState> {
        match self.copies.had(name) {
            Some(known) => Some(known),
            None => Some(CachedState::Shelved(self.shelf.as_ref()?.find(name).await?)),
        }
    }

    /// `None` if it has been evicted from disk.
    pub(super) async fn read_known(
        &self,
        name: &Name,
        known: &CachedState,
        (age, source): (Duration, Tier),
    ) -> Option<Result<Found, NotFound>> {
        if let Some(found) = given(known, age, source) {
            return Some(found);
        }
        let CachedState::Shelved(shelved) = known else { return None };
        let DiskValue { about, version } = &**shelved;
        let pieces = self.shelf.as_ref()?.read(name, version).await?;
        let content = if about.bytes > self.copies.largest() as u64 {
            Content::Pieces(pieces)
        } else {
            let value = pieces.collect().await.ok()?;
            let held = MemoryValue { value: value.clone(), about: about.clone(), version: version.clone() };
            self.copies.bring_back(name, &Arc::new(held));
            Content::Whole(value)
        };
        Some(Ok(Found { about: about.clone(), version: version.clone(), age, source, content }))
    }

    pub(super) fn shelve(self: &Arc<Self>, name: &Name, held: &Arc<MemoryValue>) {
        if self.shelf.is_none() {
            return;
        }
        let (service, name, held) = (Arc::clone(self), name.clone(), Arc::clone(held));
        tokio::spawn(async move {
            if let Some(shelf) = &service.shelf
                && shelf.put(&name, &held).await
            {
                service.copies.mark_shelved(&name, &held.version);
            }
        });
    }

    /// While the value is sent to the client, because it is too large for memory.
    pub(super) fn pour(self: &Arc<Self>, name: &Name, said: &Said, asked: Duration, body: Body) -> Body {
        let (Some(shelf), Some(about), Some(version)) = (&self.shelf, &said.about, &said.version) else {
            return body;
        };
        let shelved = Arc::new(DiskValue { about: about.clone(), version: version.clone() });
        let (service, known) = (Arc::clone(self), CachedState::Shelved(Arc::clone(&shelved)));
        let of = name.clone();
        shelf.pour(name, &shelved, body, move || {
            service.copies.keep_newest(&of, &known, asked, None);
        })
    }
}

/// `None` if the value is on disk.
pub(super) fn given(known: &CachedState, age: Duration, source: Tier) -> Option<Result<Found, NotFound>> {
    match known {
        CachedState::Value(held) if !is_over(known) => {
            let content = Content::Whole(held.value.clone());
            Some(Ok(Found { about: held.about.clone(), version: held.version.clone(), age, source, content }))
        }
        CachedState::Shelved(_) if !is_over(known) => None,
        _ => Some(Err(NotFound { version: known.version().map(str::to_owned), age, source })),
    }
}

/// A later write of an expired key would be unknown here.
pub(super) fn is_over(known: &CachedState) -> bool {
    known.about().is_some_and(|about| about.is_past(now()))
}
