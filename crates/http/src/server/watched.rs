//! Responses whose delivery a connection does not tell: their bodies tell it.

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
    response.map(|body| Body::stream(Watched { body, taken: 0, is_whole: false, note: Some(note), handler }))
}

/// A body whose end, or whose being dropped before it, is told.
struct Watched<H: Handler> {
    body: Body,
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
        let frame = ready!(Pin::new(&mut this.body).poll_frame(cx));
        match &frame {
            Some(Ok(frame)) => this.taken += frame.data_ref().map_or(0, |data| data.len() as u64),
            Some(Err(_)) => {}
            None => this.is_whole = true,
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

impl<H: Handler> Unpin for Watched<H> {}

impl<H: Handler> Drop for Watched<H> {
    fn drop(&mut self) {
        if let Some(note) = self.note.take() {
            // A body that says that nothing more comes is not asked again.
            let is_whole = self.is_whole || self.body.is_end_stream();
            self.handler.sent(note, Delivery { is_whole, body_bytes: self.taken, bytes: None });
        }
    }
}
