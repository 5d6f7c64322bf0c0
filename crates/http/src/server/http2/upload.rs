//! A request's body on its way in on an HTTP/2 stream.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use h2::RecvStream;
use hyper::body::{Body, Frame, SizeHint};

use crate::{Failure, Stage};

/// The body; h2 compares it with its announced length.
pub(super) struct Upload {
    stream: RecvStream,
    /// How many bytes are still to come, if the head says.
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
        let failed = |error| Failure::from_h2(&error, Stage::Body);
        if let Some(data) = ready!(self.stream.poll_data(cx)) {
            return Poll::Ready(Some(data.map_err(failed).map(|data| {
                // The client may send on as somebody takes what it sent: this was just counted against its window, so h2 takes it back.
                let _ = self.stream.flow_control().release_capacity(data.len());
                self.left = self.left.map(|left| left.saturating_sub(data.len() as u64));
                Frame::data(data)
            })));
        }
        let trailers = ready!(self.stream.poll_trailers(cx)).map_err(failed);
        Poll::Ready(trailers.map(|trailers| trailers.map(Frame::trailers)).transpose())
    }

    fn is_end_stream(&self) -> bool {
        self.stream.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
