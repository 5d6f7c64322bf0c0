//! Fills the body of an object from the origin. If the response is truncated, the rest is requested with a
//! range request.
//!
//! A body that is too large for memory is streamed to the disk. A body that neither can store is only passed
//! on to its readers.

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
                // A joined body must have the length that its parts announced.
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
            // A body without storage and readers ends early here; the origin did not fail.
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

    /// Removes the replaced object from the disk, or restores it if the new response is truncated.
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

    /// Ensures that the received part of an object is stored in memory or on disk. Returns false if neither
    /// has room: the body is then only passed on, and the object is removed from the store.
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

    /// Requests the rest of an object whose body is truncated. Returns the rest and the length of the whole
    /// body. A stored object receives the newer header.
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
            // Other readers must not receive a response that is only for this request.
            *object = confirmed.is_stored.then_some(confirmed.object)?;
        }
        tracing::info!(key = %object.key, received = object.body.bytes(), "resumed a truncated response body");
        Some((body, whole))
    }
}

pub(crate) struct Pouring {
    /// In bytes.
    pub(crate) largest: u64,
    /// The request for the rest of a truncated body; `None` if the rest is not requested.
    pub(crate) again: Option<Arc<Visit>>,
    pub(crate) replaced: Option<Replaced>,
    pub(crate) sent: Sent,
}

/// The stored object for the same request at the time that the response arrives.
pub(crate) struct Replaced {
    pub(crate) request: HeaderMap,
    /// The complete object in memory, if any.
    pub(crate) object: Option<Arc<Object>>,
}

/// Requests for the rest of one body: the origin fails after more truncated responses.
const MOST_RESTS: usize = 3;

/// Waits until the body may grow. Leaves a disk that has delayed readers for too long.
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
        // The client is about to start reading, or has disconnected.
        return timeout(PATIENCE, fill.room()).await.unwrap_or(Err(Unwanted));
    }
    fill.room().await
}

/// The total time that the disk may delay the readers of one object, and the time limit for the first reader
/// to start.
const PATIENCE: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fill::AHEAD;

    /// A body that waits for a hung disk, with more bytes than may be queued for it.
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
        // The reader continues with the same body.
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
