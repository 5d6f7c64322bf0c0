//! A request's body as a handler gets it: as the client sends it, if the client does.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use hyper::body::{Body as Frames, Frame, SizeHint};
use tokio::time::Sleep;

use crate::{Body, Failure};

/// The body of a request whose next piece may take `patience` to come.
pub(super) fn patient(
    body: impl Frames<Data = Bytes, Error = Failure> + Send + Unpin + 'static,
    patience: Duration,
) -> Body {
    if body.is_end_stream() { Body::empty() } else { Body::stream(Upload { body, patience, deadline: None }) }
}

struct Upload<B> {
    body: B,
    patience: Duration,
    /// While somebody waits for the next piece.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<B: Frames<Data = Bytes, Error = Failure> + Unpin> Frames for Upload<B> {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) {
            self.deadline = None;
            return Poll::Ready(frame);
        }
        let patience = self.patience;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        deadline.as_mut().poll(cx).map(|()| Some(Err(Failure::Timeout)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A body of which the first frame was read already.
pub(super) struct Begun {
    first: Option<Frame<Bytes>>,
    rest: Body,
}

impl Begun {
    pub(super) fn new(first: Frame<Bytes>, rest: Body) -> Self {
        Self { first: Some(first), rest }
    }
}

impl Frames for Begun {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        match self.first.take() {
            Some(first) => Poll::Ready(Some(Ok(first))),
            None => Pin::new(&mut self.rest).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && self.rest.is_end_stream()
    }
}
