//! Received data of an HTTP/2 stream, for client and server.

use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::RecvStream;
use hyper::body::Frame;

use crate::{Failure, Stage, http1::clear_trailers};

pub(crate) fn poll_data(
    stream: &mut RecvStream,
    cx: &mut Context<'_>,
) -> Poll<Option<Result<Bytes, h2::Error>>> {
    let data = ready!(stream.poll_data(cx));
    if let Some(Ok(data)) = &data {
        // Fails only if more is released than was received.
        let _ = stream.flow_control().release_capacity(data.len());
    }
    Poll::Ready(data)
}

pub(crate) fn poll_frame(
    stream: &mut RecvStream,
    cx: &mut Context<'_>,
) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
    let failed = |error| Failure::from_h2(&error, Stage::Body);
    if let Some(data) = ready!(poll_data(stream, cx)) {
        return Poll::Ready(Some(data.map_err(failed).map(Frame::data)));
    }
    let mut trailers = ready!(stream.poll_trailers(cx)).map_err(failed);
    if let Ok(Some(trailers)) = &mut trailers {
        clear_trailers(trailers);
    }
    Poll::Ready(trailers.map(|trailers| trailers.map(Frame::trailers)).transpose())
}
