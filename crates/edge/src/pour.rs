//! From an origin into an object: the bytes of its body, and the rest of them from another request if the first one breaks off.

use std::sync::Arc;

use cache::Rest;
use http::{Body, Failure};

use crate::{core::Core, origins::onward, store::Object, visit::Visit};

impl Core {
    /// Moves a body into an object, whole or until it breaks off for good or turns out too large. The rest of one that breaks off is
    /// asked for as a visit `again` was, if there is one.
    pub(crate) async fn pour(
        self: Arc<Self>,
        mut object: Arc<Object>,
        mut body: Body,
        largest: u64,
        again: Option<Arc<Visit>>,
    ) {
        let fill = Arc::clone(&object.body);
        let (mut is_kept, mut whole, mut asked) = (true, None, 0);
        let end = loop {
            match body.data().await {
                Ok(Some(piece)) => fill.push(piece),
                // What was joined has to come to what its parts said.
                Ok(None) if whole.is_some_and(|whole| whole != fill.bytes()) => break Err(Failure::Source),
                Ok(None) => break Ok(()),
                Err(failure) => {
                    let Some(visit) = again.as_deref().filter(|_| asked < MOST_RESTS) else {
                        break Err(failure);
                    };
                    asked += 1;
                    let Some(rest) = self.rest(visit, &mut object, is_kept).await else { break Err(failure) };
                    (body, whole) = (rest.0, Some(rest.1));
                }
            }
            if is_kept && fill.bytes() > largest.min(self.store.capacity()) {
                is_kept = false;
                self.store.remove(&object);
                fill.pass_on();
            }
            if fill.room().await.is_err() {
                break Err(Failure::Source);
            }
        };
        fill.finish(end);
        match end {
            Ok(()) => {
                self.store.settle(&object);
                if let Some(on_disk) = self.on_disk.as_ref().filter(|_| is_kept) {
                    on_disk.keep(&object);
                }
            }
            Err(_) => self.store.remove(&object),
        }
    }

    /// What its origin still has of an object whose body broke off, and the length of the whole. An object that is stored gets the
    /// newer header.
    async fn rest(&self, visit: &Visit, object: &mut Arc<Object>, is_kept: bool) -> Option<(Body, u64)> {
        let rest = Rest::after(object.body.bytes(), &object.stored)?;
        let mut headers = onward(visit, &self.centre);
        rest.ask(&mut headers);
        let requested = self.now();
        let asked = self.origins.ask(&self.clients.usual, visit, headers, Body::empty(), requested).await;
        let (parts, body) = asked.ok()?.into_parts();
        let whole = rest.is_in(parts.status, &parts.headers)?;
        tracing::info!(key = %object.key, received = object.body.bytes(), "a body broke off and goes on");
        if is_kept {
            *object = self.confirm(visit, object, &parts.headers, (requested, self.now()), object.began);
        }
        Some((body, whole))
    }
}

/// Requests for the rest of one body: an origin that breaks off more often cannot serve it.
const MOST_RESTS: usize = 3;
