//! Stores a partial response while it is forwarded to its client.
//!
//! The bytes arrive at the pace of the client, and the fetch ends when the client disconnects: a client that
//! seeks in a video needs the bytes after each seek, not the rest of the file.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use cache::{
    Fragment, Stored, Time, is_same_representation, purge::CACHE_TAG, ranges::Part, representation_fields,
    take_personal,
};
use http::{
    Body, Bytes, Failure, HeaderMap, Method, Response, StatusCode,
    body::{Frame, Frames, SizeHint},
    header,
};

use crate::{
    centre::Edge,
    compact::compact,
    confirm::{Judged, counts},
    core::Core,
    fetch::{passed, subject},
    in_flight::Sent,
    parts::Parts,
    ready::Serving,
    store::{Found, Object},
    visit::Visit,
};

impl Core {
    /// Stores a partial response if it may be stored and combined with other parts; returns whether it is
    /// stored. The most recent response wins: a part updates the stored response of the same representation,
    /// and removes one of another representation.
    pub(crate) fn keep_part(
        self: &Arc<Self>,
        visit: &Visit,
        response: Response<Body>,
        (sent, now): (&Sent, Time),
    ) -> (Response<Body>, bool) {
        let headers = response.headers();
        let is_asked_for = visit.method == Method::GET && visit.headers.contains_key(header::RANGE);
        let judged = self.judge(visit, &visit.method, (StatusCode::OK, headers), (sent, now));
        let fragment = Fragment::read(response.status(), headers);
        let place = match judged {
            Ok(judged) if is_asked_for => self.place(visit, (fragment, headers), judged, (sent, now)),
            Err(reason) if is_asked_for && counts(reason) => {
                self.end_use(visit, sent);
                None
            }
            Ok(_) | Err(_) => None,
        };
        let place = place.zip(fragment).map(|((object, parts), fragment)| (object, parts, fragment.part));
        let (response, is_kept) = (passed(visit, response), place.is_some());
        let response = match place {
            Some((object, parts, part)) => response.map(|body| {
                self.edge.keeping(&object, &parts, part, self.largest_in_parts(visit), (body, sent))
            }),
            None => response,
        };
        (response, is_kept)
    }

    /// The object that receives the bytes of a fragment, with the newest header. `None` if the response has
    /// no usable fragment, or the object is stored whole.
    fn place(
        &self,
        visit: &Visit,
        (fragment, headers): (Option<Fragment<'_>>, &HeaderMap),
        Judged { terms, selection }: Judged,
        (sent, now): (&Sent, Time),
    ) -> Option<(Arc<Object>, Arc<Parts>)> {
        let is_same = |stored: &Stored| {
            fragment
                .map_or_else(|| is_same_representation(headers, stored), |fragment| fragment.is_of(stored))
        };
        let fragment = fragment.filter(Fragment::is_announced);
        // Later requests for other parts are not collapsed.
        if fragment.is_some_and(|fragment| fragment.length > self.largest(visit)) {
            self.passing.note(&visit.key, now);
        }
        let (stored, parts) = match self.store.find(&visit.key, &visit.headers) {
            Found::Object(object) => (Some(object), None),
            Found::InParts(object, parts) => (Some(object), Some(parts)),
            Found::OtherVariant | Found::Nothing => (None, None),
        };
        if let Some(object) = stored.filter(|object| is_same(&object.stored)) {
            let confirmed = self.confirm(visit, &object, &representation_fields(headers), (sent, now));
            let parts = parts.filter(|_| confirmed.is_stored && fragment.is_some())?;
            return Some((confirmed.object, parts));
        }
        let Some((length, mut whole)) =
            fragment.and_then(|fragment| Some((fragment.length, fragment.whole(&visit.headers)?)))
        else {
            self.end_use(visit, sent);
            return None;
        };
        whole.remove(CACHE_TAG);
        take_personal(&mut whole, &terms.control, visit.zone().set_cookie);
        let parts = Arc::new(Parts::of(length));
        let object = Object {
            key: visit.key.clone(),
            subject: subject(visit, headers),
            stored: Stored { status: StatusCode::OK, headers: compact(whole), terms, selection },
            body: Arc::default(),
            parts: Some(Arc::clone(&parts)),
            began: sent.epoch,
            asked: sent.number(),
            serving: Serving::default(),
        };
        let object = self.add(visit, object, sent, now);
        self.forget_on_disk(visit);
        self.store.settle(&object);
        Some((object, parts))
    }
}

impl Edge {
    /// Stores a part of an object while it is forwarded, with at most `most` bytes of the object in memory.
    pub(crate) fn keeping(
        self: &Arc<Self>,
        object: &Arc<Object>,
        parts: &Arc<Parts>,
        part: Part,
        most: u64,
        (body, sent): (Body, &Sent),
    ) -> Body {
        let (edge, object, parts) = (Arc::clone(self), Arc::clone(object), Arc::clone(parts));
        Body::stream(Keeping {
            edge,
            object,
            parts,
            most,
            body,
            sent: sent.clone(),
            next: part.first,
            block: Vec::new(),
            is_kept: true,
        })
    }

    /// Adds bytes to an object that is stored in parts. Returns whether to store the bytes that follow.
    fn add_part(
        &self,
        object: &Arc<Object>,
        parts: &Parts,
        (first, bytes): (u64, &Bytes),
        most: u64,
        sent: &Sent,
    ) -> bool {
        let is_added = parts.add(first, bytes, most) && self.store.recount(object);
        if is_added && let Some(whole) = parts.whole() {
            if let Some(object) = self.store.complete(object, whole)
                && let Some(on_disk) = &self.on_disk
            {
                on_disk.keep(&object, sent.clone());
            }
            return false;
        }
        is_added
    }
}

struct Keeping {
    edge: Arc<Edge>,
    object: Arc<Object>,
    parts: Arc<Parts>,
    most: u64,
    body: Body,
    sent: Sent,
    /// The offset of the first byte that is not added yet.
    next: u64,
    /// Bytes that are forwarded but not added yet. Copied, because a stored slice would keep the connection's
    /// read buffer allocated.
    block: Vec<u8>,
    is_kept: bool,
}

impl Keeping {
    fn keep(&mut self, mut data: &[u8]) {
        while self.is_kept && !data.is_empty() {
            let (now, later) = data.split_at(data.len().min(BLOCK - self.block.len()));
            self.block.extend_from_slice(now);
            data = later;
            if self.block.len() == BLOCK {
                self.add();
            }
        }
    }

    fn add(&mut self) {
        let block = Bytes::from(std::mem::take(&mut self.block).into_boxed_slice());
        if self.is_kept && !block.is_empty() {
            self.is_kept =
                self.edge.add_part(&self.object, &self.parts, (self.next, &block), self.most, &self.sent);
            self.next += block.len() as u64;
        }
    }
}

impl Frames for Keeping {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        match &frame {
            Some(Ok(frame)) => self.keep(frame.data_ref().map_or(&[], |data| data)),
            Some(Err(_)) | None => self.add(),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Keeping {
    fn drop(&mut self) {
        self.add();
    }
}

/// Bytes per stored piece: small enough to buffer for many concurrent clients, large enough that a video
/// consists of few pieces.
const BLOCK: usize = 256 << 10;
