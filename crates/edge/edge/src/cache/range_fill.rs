//! Stores a partial response while it is forwarded to its client.
//!
//! The bytes arrive at the pace of the client, and the fetch ends when the client disconnects: a
//! client that seeks in a video needs the bytes after each seek, not the rest of the file.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use http_cache::{
    Fragment, Stored, Time, is_same_representation, purge::CACHE_TAG, ranges::Part, representation_fields,
    take_personal,
};
use http_stack::{
    Body, Bytes, Failure, HeaderMap, Method, Response, StatusCode,
    body::{Frame, Frames, SizeHint},
    header,
};

use crate::{
    body::sparse::SparseBody,
    cache::{
        freshen::{Cacheable, supersedes_stored},
        miss::{forwarded_response, purge_subject},
        response_order::SentRequest,
    },
    fast_path::prerendered::PrerenderedSet,
    request::context::RequestContext,
    server::{node::Node, worker_state::WorkerState},
    store::memory::{Lookup, Object},
    util::compact_headers::compact,
};

impl WorkerState {
    /// Returns whether the response is stored. The most recent response wins: a part updates the
    /// stored response of the same representation, and removes one of another representation.
    pub(crate) fn store_range(
        self: &Arc<Self>,
        context: &RequestContext,
        response: Response<Body>,
        (sent, now): (&SentRequest, Time),
    ) -> (Response<Body>, bool) {
        let headers = response.headers();
        let is_asked_for = context.method == Method::GET && context.headers.contains_key(header::RANGE);
        let cacheable =
            self.check_cacheable(context, &context.method, (StatusCode::OK, headers), (sent, now));
        let fragment = Fragment::read(response.status(), headers);
        let place = match cacheable {
            Ok(cacheable) if is_asked_for => {
                self.range_target(context, (fragment, headers), cacheable, (sent, now))
            }
            Err(reason) if is_asked_for && supersedes_stored(reason) => {
                self.discard_stored(context, sent);
                None
            }
            Ok(_) | Err(_) => None,
        };
        let place = place.zip(fragment).map(|((object, parts), fragment)| (object, parts, fragment.part));
        let (response, is_kept) = (forwarded_response(context, response), place.is_some());
        let response = match place {
            Some((object, parts, part)) => response.map(|body| {
                self.node.tee_range(&object, &parts, part, self.max_partial_size(context), (body, sent))
            }),
            None => response,
        };
        (response, is_kept)
    }

    fn range_target(
        &self,
        context: &RequestContext,
        (fragment, headers): (Option<Fragment<'_>>, &HeaderMap),
        Cacheable { terms, selection }: Cacheable,
        (sent, now): (&SentRequest, Time),
    ) -> Option<(Arc<Object>, Arc<SparseBody>)> {
        let is_same = |stored: &Stored| {
            fragment
                .map_or_else(|| is_same_representation(headers, stored), |fragment| fragment.is_of(stored))
        };
        let fragment = fragment.filter(Fragment::is_announced);
        // Later requests for other parts are not collapsed.
        if fragment.is_some_and(|fragment| fragment.length > self.max_stored_size(context)) {
            self.hit_for_miss.insert(&context.key, now);
        }
        let (stored, parts) = match self.store.find(&context.key, &context.headers) {
            Lookup::Object(object) => (Some(object), None),
            Lookup::Partial(object, parts) => (Some(object), Some(parts)),
            Lookup::OtherVariant | Lookup::Absent => (None, None),
        };
        if let Some(object) = stored.filter(|object| is_same(&object.stored)) {
            let confirmed = self.freshen(context, &object, &representation_fields(headers), (sent, now));
            let parts = parts.filter(|_| confirmed.is_stored && fragment.is_some())?;
            return Some((confirmed.object, parts));
        }
        let Some((length, mut whole)) =
            fragment.and_then(|fragment| Some((fragment.length, fragment.whole(&context.headers)?)))
        else {
            self.discard_stored(context, sent);
            return None;
        };
        whole.remove(CACHE_TAG);
        take_personal(&mut whole, &terms.control, context.zone().set_cookie);
        let parts = Arc::new(SparseBody::with_length(length));
        let object = Object {
            key: context.key.clone(),
            subject: purge_subject(context, headers),
            stored: Stored { status: StatusCode::OK, headers: compact(whole), terms, selection },
            body: Arc::default(),
            parts: Some(Arc::clone(&parts)),
            sent_epoch: sent.epoch,
            request_number: sent.number(),
            prerendered: PrerenderedSet::default(),
        };
        let object = self.add_to_store(context, object, sent, now);
        self.discard_on_disk(context);
        self.store.settle(&object);
        Some((object, parts))
    }
}

impl Node {
    pub(crate) fn tee_range(
        self: &Arc<Self>,
        object: &Arc<Object>,
        parts: &Arc<SparseBody>,
        part: Part,
        max_bytes: u64,
        (body, sent): (Body, &SentRequest),
    ) -> Body {
        let (node, object, parts) = (Arc::clone(self), Arc::clone(object), Arc::clone(parts));
        Body::stream(RangeFill {
            node,
            object,
            parts,
            max_bytes,
            body,
            sent: sent.clone(),
            next: part.first,
            block: Vec::new(),
            is_storing: true,
        })
    }

    fn add_range(
        &self,
        object: &Arc<Object>,
        parts: &SparseBody,
        (first, bytes): (u64, &Bytes),
        max_bytes: u64,
        sent: &SentRequest,
    ) -> bool {
        let is_added = parts.add(first, bytes, max_bytes) && self.store.recount(object);
        if is_added && let Some(whole) = parts.whole() {
            if let Some(object) = self.store.complete(object, whole)
                && let Some(on_disk) = &self.disk
            {
                on_disk.store_object(&object, sent.clone());
            }
            return false;
        }
        is_added
    }
}

struct RangeFill {
    node: Arc<Node>,
    object: Arc<Object>,
    parts: Arc<SparseBody>,
    max_bytes: u64,
    body: Body,
    sent: SentRequest,
    /// The offset of the first byte that is not added yet.
    next: u64,
    /// Copied, because a stored slice would keep the connection's read buffer allocated.
    block: Vec<u8>,
    is_storing: bool,
}

impl RangeFill {
    fn buffer(&mut self, mut data: &[u8]) {
        while self.is_storing && !data.is_empty() {
            let (now, later) = data.split_at(data.len().min(BLOCK_BYTES - self.block.len()));
            self.block.extend_from_slice(now);
            data = later;
            if self.block.len() == BLOCK_BYTES {
                self.flush_block();
            }
        }
    }

    fn flush_block(&mut self) {
        let block = Bytes::from(std::mem::take(&mut self.block).into_boxed_slice());
        if self.is_storing && !block.is_empty() {
            self.is_storing = self.node.add_range(
                &self.object,
                &self.parts,
                (self.next, &block),
                self.max_bytes,
                &self.sent,
            );
            self.next += block.len() as u64;
        }
    }
}

impl Frames for RangeFill {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        match &frame {
            Some(Ok(frame)) => self.buffer(frame.data_ref().map_or(&[], |data| data)),
            Some(Err(_)) | None => self.flush_block(),
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

impl Drop for RangeFill {
    fn drop(&mut self) {
        self.flush_block();
    }
}

/// Small enough to buffer for many concurrent clients, large enough that a video consists of few
/// pieces.
const BLOCK_BYTES: usize = 256 << 10;
