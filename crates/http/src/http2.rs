//! What both ends of an HTTP/2 connection have in common: a message's body on its way in.

use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::RecvStream;
use hyper::body::Frame;

use crate::{Failure, Stage};

/// The next frame of a body. Its window opens again by what somebody takes.
pub(crate) fn poll_frame(
    stream: &mut RecvStream,
    cx: &mut Context<'_>,
) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
    let failed = |error| Failure::from_h2(&error, Stage::Body);
    if let Some(data) = ready!(stream.poll_data(cx)) {
        return Poll::Ready(Some(data.map_err(failed).map(|data| {
            // Only an overdrawn one is refused, and what is given back here was just taken from it.
            let _ = stream.flow_control().release_capacity(data.len());
            Frame::data(data)
        })));
    }
    let trailers = ready!(stream.poll_trailers(cx)).map_err(failed);
    Poll::Ready(trailers.map(|trailers| trailers.map(Frame::trailers)).transpose())
}
