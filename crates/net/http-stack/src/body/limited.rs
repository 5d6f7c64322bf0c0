//! A body with a maximum length.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::{Context, Poll},
};

use bytes::Bytes;
use hyper::body::{Body as Frames, Frame, SizeHint};

use crate::Failure;

pub(crate) struct LimitedBody<B> {
    body: B,
    left: u64,
    is_exceeded: Arc<AtomicBool>,
}

impl<B> LimitedBody<B> {
    pub(crate) fn new(body: B, most: u64, is_exceeded: Arc<AtomicBool>) -> Self {
        Self { body, left: most, is_exceeded }
    }
}

impl<B: Frames<Data = Bytes, Error = Failure> + Unpin> Frames for LimitedBody<B> {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        if self.is_exceeded.load(Relaxed) {
            return Poll::Ready(Some(Err(Failure::TooLarge)));
        }
        let frame = std::task::ready!(Pin::new(&mut self.body).poll_frame(cx));
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
        {
            match self.left.checked_sub(data.len() as u64) {
                Some(left) => self.left = left,
                None => {
                    self.is_exceeded.store(true, Relaxed);
                    return Poll::Ready(Some(Err(Failure::TooLarge)));
                }
            }
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
