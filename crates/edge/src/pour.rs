//! From an origin into an object: the bytes of its body, and the rest of them from another request if the first one breaks off.
//!
//! What is longer than memory should hold goes to the disk while it comes; what neither has room for is passed on.

use std::{sync::Arc, time::Duration};

use cache::{Rest, ranges::announced, update};
use http::{Body, Failure, HeaderMap, Method};
use tokio::time::{Instant, timeout};

use crate::{
    asking::Aim,
    core::Core,
    fill::{Fill, Keeping, Unwanted},
    in_flight::Sent,
    on_disk::Stream,
    origins::onward,
    store::Object,
    visit::Visit,
};

impl Core {
    /// Moves a body into an object, whole or until it breaks off for good or turns out too large.
    pub(crate) async fn pour(
        self: Arc<Self>,
        mut object: Arc<Object>,
        mut body: Body,
        Pouring { largest, again, replaced, sent }: Pouring,
    ) {
        let fill = Arc::clone(&object.body);
        let (mut stream, mut patience) = (None, PATIENCE);
        let (mut whole, mut asked, mut is_unwanted) = (None, 0, false);
        let mut is_kept = self.find_room(&object, &mut stream, largest, &sent);
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
                    let Some(rest) = Box::pin(self.rest(visit, &mut object, is_kept, &sent)).await else {
                        break Err(failure);
                    };
                    (body, whole) = (rest.0, Some(rest.1));
                }
            }
            is_kept = is_kept && self.find_room(&object, &mut stream, largest, &sent);
            if room(&fill, &mut patience).await.is_err() {
                is_unwanted = true;
                break Err(Failure::Source);
            }
        };
        fill.finish(end);
        if let Some(replaced) = replaced {
            // A body that neither has room nor a reader is not the origin's failure.
            self.settle_replaced(&object, replaced, end.is_ok() || is_unwanted, &sent);
        }
        let is_current = !sent.is_superseded(&object.stored.selection);
        if end.is_err() || !is_kept || !is_current || !self.find_room(&object, &mut stream, largest, &sent) {
            self.store.remove(&object);
            return;
        }
        match (fill.kept().await, &self.on_disk) {
            (Keeping::Disk, _) => self.store.settle(&object),
            (Keeping::Memory, on_disk) if fill.bytes() <= self.store.capacity() => {
                self.store.settle(&object);
                if let Some(on_disk) = on_disk.as_ref().filter(|_| stream.is_none()) {
                    on_disk.keep(&object, sent);
                }
            }
            _ => self.store.remove(&object),
        }
    }

    /// Removes the replaced object from the disk unless the new response broke off. Otherwise puts the replaced object back.
    fn settle_replaced(&self, object: &Object, replaced: Replaced, is_complete: bool, sent: &Sent) {
        let Replaced { request, object: before } = replaced;
        if is_complete {
            if let Some(on_disk) = self.on_disk.as_ref().filter(|disk| disk.may_have(&object.key)) {
                on_disk.forget(&object.key, &request);
            }
        } else if let Some(before) = before.filter(|before| !sent.is_superseded(&before.stored.selection)) {
            self.store.restore(object, &before, &request, self.now());
        }
    }

    /// Sees to it that what has come of an object is kept, in memory or on disk. Returns false if neither has room for it: it is passed
    /// on from then on, and not in the store any more.
    fn find_room(
        &self,
        object: &Arc<Object>,
        stream: &mut Option<Arc<Stream>>,
        largest: u64,
        sent: &Sent,
    ) -> bool {
        let fill = &object.body;
        let bytes = announced(&object.stored.headers).unwrap_or(0).max(fill.bytes());
        if let Some(on_disk) = &self.on_disk {
            if stream.is_none() && bytes > self.store.share() && bytes <= on_disk.largest() {
                *stream = on_disk.stream(object, sent);
            }
            if let Some(stream) = stream.as_ref().filter(|_| fill.keeping() == Keeping::Disk) {
                on_disk.write(stream, object);
            }
        }
        let most = match (fill.keeping(), &self.on_disk) {
            (Keeping::Memory, _) => self.store.capacity(),
            (Keeping::Disk, Some(on_disk)) => on_disk.largest(),
            _ => 0,
        };
        let has_room = bytes <= largest.min(most);
        if !has_room {
            self.store.remove(object);
            fill.pass_on();
        }
        has_room
    }

    /// What its origin still has of an object whose body broke off, and the length of the whole. An object that is stored gets the
    /// newer header.
    async fn rest(
        &self,
        visit: &Visit,
        object: &mut Arc<Object>,
        is_kept: bool,
        sent: &Sent,
    ) -> Option<(Body, u64)> {
        let rest = Rest::after(object.body.bytes(), &object.stored)?;
        let mut headers = onward(visit, &self.centre);
        rest.ask(&mut headers);
        let again = self.send(&visit.key);
        let asked = self.ask(visit, headers, Body::empty(), again.time, Aim::Tiers).await;
        let (parts, body) = asked.ok()?.into_parts();
        let Some(whole) = rest.is_in(parts.status, &parts.headers) else {
            if update::ends_use(&Method::GET, parts.status) {
                self.end_use(visit, &again);
            }
            return None;
        };
        let sent = sent.resumed(again.time);
        if is_kept {
            let confirmed = self.confirm(visit, object, &parts.headers, (&sent, self.now()));
            // All who read it would get what is for this request alone.
            *object = confirmed.is_stored.then_some(confirmed.object)?;
        }
        tracing::info!(key = %object.key, received = object.body.bytes(), "a body broke off and goes on");
        Some((body, whole))
    }
}

/// How a body is moved into its object.
pub(crate) struct Pouring {
    /// Bytes of the largest body that is stored.
    pub(crate) largest: u64,
    /// How the rest of a body that breaks off is asked for; `None` if it is not.
    pub(crate) again: Option<Arc<Visit>>,
    pub(crate) replaced: Option<Replaced>,
    pub(crate) sent: Sent,
}

/// What is stored for the same request when a response arrives.
pub(crate) struct Replaced {
    /// The header of the request.
    pub(crate) request: HeaderMap,
    /// In memory, as a whole.
    pub(crate) object: Option<Arc<Object>>,
}

/// Requests for the rest of one body: an origin that breaks off more often cannot serve it.
const MOST_RESTS: usize = 3;

/// Waits until a body has room for more. A disk that has held up visitors for too long is left.
async fn room(fill: &Fill, patience: &mut Duration) -> Result<(), Unwanted> {
    while fill.keeping() == Keeping::Disk {
        let began = Instant::now();
        let room = timeout(*patience, fill.room()).await;
        if fill.is_awaited() {
            *patience = patience.saturating_sub(began.elapsed());
        }
        match room {
            Ok(room) => return room,
            Err(_) if patience.is_zero() => {
                tracing::info!("a disk is too slow for an object, which is not stored");
                fill.leave_disk();
            }
            Err(_) => {}
        }
    }
    if fill.is_unread() {
        // Who asked for it is about to read, or gone.
        return timeout(PATIENCE, fill.room()).await.unwrap_or(Err(Unwanted));
    }
    fill.room().await
}

/// How long the disk may hold up the visitors of one object, in all; and the first of them may take to begin.
const PATIENCE: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fill::AHEAD;

    /// A body on its way to a disk that takes nothing of it, with more than waits in memory for one.
    fn on_its_way() -> Arc<Fill> {
        let fill = Arc::new(Fill::default());
        fill.go_to_disk();
        fill.push(vec![0; usize::try_from(AHEAD).unwrap() + 1].into());
        fill
    }

    #[tokio::test(start_paused = true)]
    async fn a_disk_that_stands_still_is_left_once_visitors_have_waited_for_it() {
        let fill = on_its_way();
        let mut visitor = Body::stream(fill.read());
        visitor.data().await.unwrap().unwrap();
        let visitor = tokio::spawn(async move { visitor.data().await });
        tokio::task::yield_now().await;
        let (began, mut patience) = (Instant::now(), PATIENCE);
        assert_eq!(room(&fill, &mut patience).await, Ok(()));
        assert_eq!((began.elapsed(), patience, fill.keeping()), (PATIENCE, Duration::ZERO, Keeping::Memory));
        // The next piece finds the visitor there, who has the same body as before.
        fill.push("more".into());
        assert_eq!(visitor.await.unwrap().unwrap().unwrap(), "more");
    }

    #[tokio::test(start_paused = true)]
    async fn a_disk_that_holds_up_nobody_has_all_the_time_it_needs() {
        let (fill, mut patience) = (on_its_way(), PATIENCE);
        let held_up = timeout(100 * PATIENCE, room(&fill, &mut patience)).await;
        assert!(held_up.is_err() && patience == PATIENCE && fill.keeping() == Keeping::Disk);
    }
}
