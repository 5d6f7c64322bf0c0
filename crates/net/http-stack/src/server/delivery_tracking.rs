//! Reports the delivery of responses over HTTP/3, from within their bodies.

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

pub(super) fn watched<H: Handler>(mut response: Response<Body>, handler: &Arc<H>) -> Response<Body> {
    let Some(note) = response.extensions_mut().remove::<H::Observer>() else { return response };
    let handler = Arc::clone(handler);
    response.map(|body| {
        let rest = Bytes::new();
        Body::stream(Watched { body, rest, taken: 0, is_whole: false, note: Some(note), handler })
    })
}

struct Watched<H: Handler> {
    body: Body,
    rest: Bytes,
    taken: u64,
    is_whole: bool,
    note: Option<H::Observer>,
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
        // A piece counts as sent once it is returned, so pieces are small.
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
            // A body with `is_end_stream` is not polled again.
            let is_whole = self.is_whole || self.is_end_stream();
            self.handler.on_delivered(note, Delivery { is_whole, body_bytes: self.taken, bytes: None });
        }
    }
}

const MOST: usize = 64 << 10;
