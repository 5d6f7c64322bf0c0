//! Fills the body of an object from the origin. If the response is truncated, the rest is requested
//! with a range request.
//!
//! A body that is too large for memory is streamed to the disk. A body that neither can store is
//! only passed on to its readers.

use std::{sync::Arc, time::Duration};

use http_cache::{MissingRange, ranges::announced, update};
use http_stack::{Body, Failure, HeaderMap, Method};
use tokio::time::{Instant, timeout};

use crate::{
    body::shared::{NoReaders, Retention, SharedBody},
    cache::response_order::SentRequest,
    request::context::RequestContext,
    server::worker_state::WorkerState,
    store::{disk::StreamingWrite, memory::Object},
    upstream::{origins::upstream_headers, select::Upstream},
};

impl WorkerState {
    pub(crate) async fn fill_object(
        self: Arc<Self>,
        mut object: Arc<Object>,
        mut body: Body,
        FillOptions { largest, resume_context: retry, replaced, sent }: FillOptions,
    ) {
        let fill = Arc::clone(&object.body);
        let (mut stream, mut max_wait) = (None, DISK_STALL_TIMEOUT);
        let (mut whole, mut resumes, mut is_unwanted) = (None, 0, false);
        let mut is_kept = self.ensure_room(&object, &mut stream, largest, &sent);
        let end = loop {
            match body.data().await {
                Ok(Some(piece)) => fill.push(piece),
                // A joined body must have the length that its parts announced.
                Ok(None) if whole.is_some_and(|whole| whole != fill.bytes()) => break Err(Failure::Source),
                Ok(None) => break Ok(()),
                Err(failure) => {
                    let Some(context) = retry.as_deref().filter(|_| resumes < MAX_RESUMES) else {
                        break Err(failure);
                    };
                    resumes += 1;
                    let Some(rest) = Box::pin(self.fetch_rest(context, &mut object, is_kept, &sent)).await
                    else {
                        break Err(failure);
                    };
                    (body, whole) = (rest.0, Some(rest.1));
                }
            }
            is_kept = is_kept && self.ensure_room(&object, &mut stream, largest, &sent);
            if wait_for_room(&fill, &mut max_wait).await.is_err() {
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
        if end.is_err() || !is_kept || !is_current || !self.ensure_room(&object, &mut stream, largest, &sent)
        {
            self.store.remove(&object);
            return;
        }
        match (fill.final_retention().await, &self.disk) {
            (Retention::Disk, _) => self.store.settle(&object),
            (Retention::Memory, on_disk) if fill.bytes() <= self.store.capacity() => {
                self.store.settle(&object);
                if let Some(on_disk) = on_disk.as_ref().filter(|_| stream.is_none()) {
                    on_disk.store_object(&object, sent);
                }
            }
            _ => self.store.remove(&object),
        }
    }

    fn settle_replaced(
        &self,
        object: &Object,
        replaced: ReplacedObject,
        is_complete: bool,
        sent: &SentRequest,
    ) {
        let ReplacedObject { request, object: previous } = replaced;
        if is_complete {
            if let Some(on_disk) = self.disk.as_ref().filter(|disk| disk.may_have(&object.key)) {
                on_disk.remove_matching(&object.key, &request);
            }
        } else if let Some(previous) =
            previous.filter(|previous| !sent.is_superseded(&previous.stored.selection))
        {
            self.store.restore(object, &previous, &request, self.now());
        }
    }

    /// Returns false if neither memory nor disk has room: the body is then only passed on, and the
    /// object is removed from the store.
    fn ensure_room(
        &self,
        object: &Arc<Object>,
        stream: &mut Option<Arc<StreamingWrite>>,
        largest: u64,
        sent: &SentRequest,
    ) -> bool {
        let fill = &object.body;
        let bytes = announced(&object.stored.headers).unwrap_or(0).max(fill.bytes());
        if let Some(on_disk) = &self.disk {
            if stream.is_none() && bytes > self.store.share() && bytes <= on_disk.largest() {
                *stream = on_disk.begin_streaming(object, sent);
            }
            if let Some(stream) = stream.as_ref().filter(|_| fill.retention() == Retention::Disk) {
                on_disk.write(stream, object);
            }
        }
        let limit = match (fill.retention(), &self.disk) {
            (Retention::Memory, _) => self.store.capacity(),
            (Retention::Disk, Some(on_disk)) => on_disk.largest(),
            _ => 0,
        };
        let has_room = bytes <= largest.min(limit);
        if !has_room {
            self.store.remove(object);
            fill.stop_retaining();
        }
        has_room
    }

    async fn fetch_rest(
        &self,
        context: &RequestContext,
        object: &mut Arc<Object>,
        is_kept: bool,
        sent: &SentRequest,
    ) -> Option<(Body, u64)> {
        let rest = MissingRange::after(object.body.bytes(), &object.stored)?;
        let mut headers = upstream_headers(context, &self.data_centre);
        rest.ask(&mut headers);
        let retry = self.register_request(&context.key);
        let resumes = self.fetch_upstream(context, headers, Body::empty(), retry.time, Upstream::Tiers).await;
        let (parts, body) = resumes.ok()?.into_parts();
        let Some(whole) = rest.is_in(parts.status, &parts.headers) else {
            if update::ends_use(&Method::GET, parts.status) {
                self.discard_stored(context, &retry);
            }
            return None;
        };
        let sent = sent.resumed(retry.time);
        if is_kept {
            let confirmed = self.freshen(context, object, &parts.headers, (&sent, self.now()));
            // Other readers must not receive a response that is only for this request.
            *object = confirmed.is_stored.then_some(confirmed.object)?;
        }
        tracing::info!(key = %object.key, received = object.body.bytes(), "resumed a truncated response body");
        Some((body, whole))
    }
}

pub(crate) struct FillOptions {
    pub(crate) largest: u64,
    pub(crate) resume_context: Option<Arc<RequestContext>>,
    pub(crate) replaced: Option<ReplacedObject>,
    pub(crate) sent: SentRequest,
}

pub(crate) struct ReplacedObject {
    pub(crate) request: HeaderMap,
    pub(crate) object: Option<Arc<Object>>,
}

const MAX_RESUMES: usize = 3;

/// Leaves a disk that has delayed readers for too long.
async fn wait_for_room(fill: &SharedBody, max_wait: &mut Duration) -> Result<(), NoReaders> {
    while fill.retention() == Retention::Disk {
        let began = Instant::now();
        let room = timeout(*max_wait, fill.wait_for_room()).await;
        if fill.has_waiting_reader() {
            *max_wait = max_wait.saturating_sub(began.elapsed());
        }
        match room {
            Ok(room) => return room,
            Err(_) if max_wait.is_zero() => {
                tracing::info!("a disk is too slow for an object, which is not stored");
                fill.abandon_disk();
            }
            Err(_) => {}
        }
    }
    if fill.is_unread() {
        // The client is about to start reading, or has disconnected.
        return timeout(DISK_STALL_TIMEOUT, fill.wait_for_room()).await.unwrap_or(Err(NoReaders));
    }
    fill.wait_for_room().await
}

/// The total time that the disk may delay the readers of one object, and the time limit for the
/// first reader to start.
const DISK_STALL_TIMEOUT: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::shared::MAX_DISK_LAG;

    fn on_its_way() -> Arc<SharedBody> {
        let fill = Arc::new(SharedBody::default());
        fill.start_writing_to_disk();
        fill.push(vec![0; usize::try_from(MAX_DISK_LAG).unwrap() + 1].into());
        fill
    }

    #[tokio::test(start_paused = true)]
    async fn stalled_disk_is_abandoned_after_readers_waited() {
        let fill = on_its_way();
        let mut visitor = Body::stream(fill.read());
        visitor.data().await.unwrap().unwrap();
        let visitor = tokio::spawn(async move { visitor.data().await });
        tokio::task::yield_now().await;
        let (began, mut max_wait) = (Instant::now(), DISK_STALL_TIMEOUT);
        assert_eq!(wait_for_room(&fill, &mut max_wait).await, Ok(()));
        assert_eq!(
            (began.elapsed(), max_wait, fill.retention()),
            (DISK_STALL_TIMEOUT, Duration::ZERO, Retention::Memory)
        );
        fill.push("more".into());
        assert_eq!(visitor.await.unwrap().unwrap().unwrap(), "more");
    }

    #[tokio::test(start_paused = true)]
    async fn slow_disk_without_readers_is_not_abandoned() {
        let (fill, mut max_wait) = (on_its_way(), DISK_STALL_TIMEOUT);
        let held_up = timeout(100 * DISK_STALL_TIMEOUT, wait_for_room(&fill, &mut max_wait)).await;
        assert!(held_up.is_err() && max_wait == DISK_STALL_TIMEOUT && fill.retention() == Retention::Disk);
    }
}
