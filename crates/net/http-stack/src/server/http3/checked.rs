//! Detects request bodies that make their request malformed: a length other than Content-Length, or invalid trailers.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::watch;

use crate::{Failure, http3::MALFORMED};

pub(super) struct Checked<B> {
    body: B,
    malformed: watch::Sender<bool>,
}

impl<B> Checked<B> {
    pub(super) fn new(body: B, malformed: watch::Sender<bool>) -> Self {
        Self { body, malformed }
    }
}

impl<B: Body<Data = Bytes, Error = Failure> + Unpin> Body for Checked<B> {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if matches!(&frame, Poll::Ready(Some(Err(failure))) if *failure == MALFORMED) {
            self.malformed.send_replace(true);
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
