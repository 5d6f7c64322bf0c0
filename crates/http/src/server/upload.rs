//! A request's body as a handler gets it: as the client sends it, if the client does.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use hyper::body::{Body as Frames, Frame};

use crate::{Body, Failure, body::Patient};

/// The body of a request whose next piece may take `patience` to come.
pub(super) fn patient(
    body: impl Frames<Data = Bytes, Error = Failure> + Send + Unpin + 'static,
    patience: Duration,
) -> Body {
    if body.is_end_stream() { Body::empty() } else { Body::stream(Patient::new(body, patience)) }
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
