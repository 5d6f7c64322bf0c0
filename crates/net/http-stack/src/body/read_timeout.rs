//! A body with a time limit for each frame.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use hyper::body::{Body as Frames, Frame, SizeHint};
use tokio::time::Sleep;

use crate::Failure;

pub(crate) struct ReadTimeout<B> {
    body: B,
    patience: Duration,
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<B> ReadTimeout<B> {
    pub(crate) fn new(body: B, patience: Duration) -> Self {
        Self { body, patience, deadline: None }
    }
}

impl<B: Frames<Data = Bytes, Error = Failure> + Unpin> Frames for ReadTimeout<B> {
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
