//! The body of a request on an HTTP/2 stream.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use h2::RecvStream;
use hyper::body::{Body, Frame, SizeHint};

use crate::{Failure, http2::poll_frame};

/// h2 compares its length with Content-Length.
pub(super) struct Upload {
    stream: RecvStream,
    left: Option<u64>,
}

impl Upload {
    pub(super) fn new(stream: RecvStream, announced: Option<u64>) -> Self {
        Self { stream, left: announced }
    }
}

impl Body for Upload {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let frame = ready!(poll_frame(&mut self.stream, cx));
        if let Some(data) = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref()) {
            self.left = self.left.map(|left| left.saturating_sub(data.len() as u64));
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.stream.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
