//! Responses over HTTP/3, whose delivery the connection does not tell: their bodies tell it.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use hyper::Response;

use super::{delivery::Delivery, handler::Handler};
use crate::{
    Body, Failure,
    body::{Frame, Frames, SizeHint},
};

/// Has the handler told when the response's body was taken by a connection that does not tell itself.
pub(super) fn watched<H: Handler>(mut response: Response<Body>, handler: &Arc<H>) -> Response<Body> {
    let Some(note) = response.extensions_mut().remove::<H::Note>() else { return response };
    let handler = Arc::clone(handler);
    response.map(|body| {
        let rest = Bytes::new();
        Body::stream(Watched { body, rest, taken: 0, is_whole: false, note: Some(note), handler })
    })
}

/// A body whose end, or whose being dropped before it, is told.
struct Watched<H: Handler> {
    body: Body,
    /// What is there of it and was not taken yet.
    rest: Bytes,
    taken: u64,
    is_whole: bool,
    note: Option<H::Note>,
    handler: Arc<H>,
}

impl<H: Handler> Frames for Watched<H> {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let this = self.get_mut();
        if this.rest.is_empty() {
            match ready!(Pin::new(&mut this.body).poll_frame(cx)).map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => this.rest = data,
                Some(Ok(Err(other))) => return Poll::Ready(Some(Ok(other))),
                Some(Err(failure)) => return Poll::Ready(Some(Err(failure))),
                None => {
                    this.is_whole = true;
                    return Poll::Ready(None);
                }
            }
        }
        // A piece counts as taken when it is given, so none is large.
        let piece = this.rest.split_to(this.rest.len().min(MOST));
        this.taken += piece.len() as u64;
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (rest, hint) = (self.rest.len() as u64, self.body.size_hint());
        hint.exact().map_or_else(SizeHint::default, |exact| SizeHint::with_exact(exact + rest))
    }
}

impl<H: Handler> Unpin for Watched<H> {}

impl<H: Handler> Drop for Watched<H> {
    fn drop(&mut self) {
        if let Some(note) = self.note.take() {
            // A body that says that nothing more comes is not asked again.
            let is_whole = self.is_whole || self.is_end_stream();
            self.handler.sent(note, Delivery { is_whole, body_bytes: self.taken, bytes: None });
        }
    }
}

/// Bytes of a piece.
const MOST: usize = 64 << 10;
