//! A request in flight at an origin, from its choice to the end of its response body.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    task::{Context, Poll, ready},
};

use http_stack::{
    Body, Bytes, Failure, Response, StatusCode,
    body::{Frame, Frames, SizeHint},
};

use super::queue::Queue;

/// Counts until it is dropped.
#[derive(Debug)]
pub(crate) struct InFlightPermit {
    in_flight: Arc<AtomicU32>,
    queue: Arc<Queue>,
}

impl InFlightPermit {
    pub(super) fn new(in_flight: Arc<AtomicU32>, queue: Arc<Queue>) -> Self {
        in_flight.fetch_add(1, SeqCst);
        Self { in_flight, queue }
    }

    /// A tunnel after a 101 keeps the lease as an extension of the response.
    pub(crate) fn hold(self, mut response: Response<Body>) -> Response<Body> {
        if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            response.extensions_mut().insert(Arc::new(self));
            return response;
        }
        let is_complete = response.body().is_end_stream() || response.body().again().is_some();
        if is_complete {
            return response;
        }
        response.map(|body| Body::stream(BodyWithPermit { body, lease: Some(self) }))
    }
}

impl Drop for InFlightPermit {
    fn drop(&mut self) {
        self.in_flight.fetch_sub(1, SeqCst);
        self.queue.wake_one();
    }
}

struct BodyWithPermit {
    body: Body,
    lease: Option<InFlightPermit>,
}

impl Frames for BodyWithPermit {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        if !matches!(frame, Some(Ok(_))) || self.body.is_end_stream() {
            self.lease = None;
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
