//! A response's body on its way in on an HTTP/2 stream.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use h2::RecvStream;
use hyper::body::{Body, Frame};

use super::{super::life::Count, upload::Upload};
use crate::{Failure, Stage};

/// The body, and what else is of this exchange: when it is dropped, the exchange is over.
pub(crate) struct Download {
    stream: RecvStream,
    /// The upload that is still in progress. A server that has finished its answer does not need the rest.
    _upload: Option<Upload>,
    _counted: Count,
}

impl Download {
    pub(super) fn new(stream: RecvStream, upload: Option<Upload>, counted: Count) -> Self {
        Self { stream, _upload: upload, _counted: counted }
    }
}

impl Body for Download {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let failed = |error| Failure::from_h2(&error, Stage::Body);
        if let Some(data) = ready!(self.stream.poll_data(cx)) {
            return Poll::Ready(Some(data.map_err(failed).map(|data| {
                // The window opens again by what somebody takes. Only an overdrawn one is refused, and what is given
                // back here was just taken from it.
                let _ = self.stream.flow_control().release_capacity(data.len());
                Frame::data(data)
            })));
        }
        let trailers = ready!(self.stream.poll_trailers(cx)).map_err(failed);
        Poll::Ready(trailers.map(|trailers| trailers.map(Frame::trailers)).transpose())
    }

    fn is_end_stream(&self) -> bool {
        self.stream.is_end_stream()
    }
}
