//! A body whose first frames were read ahead.

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use hyper::body::{Body as Frames, Frame, SizeHint};

use crate::{Body, Failure};

pub(crate) struct Ahead {
    frames: VecDeque<Frame<Bytes>>,
    rest: Body,
    bytes: u64,
    has_trailers: bool,
}

impl Ahead {
    pub(crate) fn new(rest: Body) -> Self {
        Self { frames: VecDeque::new(), rest, bytes: 0, has_trailers: false }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn is_read(&self) -> bool {
        self.rest.is_end_stream()
    }

    pub(crate) fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        match Pin::new(&mut self.rest).poll_frame(cx) {
            Poll::Ready(Some(frame)) => {
                let frame = frame?;
                self.bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
                self.has_trailers |= frame.is_trailers();
                if frame.data_ref().is_none_or(|data| !data.is_empty()) {
                    self.frames.push_back(frame);
                }
                Poll::Ready(Ok(()))
            }
            Poll::Ready(None) => {
                self.rest = Body::empty();
                Poll::Ready(Ok(()))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

impl Frames for Ahead {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        match self.frames.pop_front() {
            Some(frame) => {
                self.bytes -= frame.data_ref().map_or(0, |data| data.len() as u64);
                Poll::Ready(Some(Ok(frame)))
            }
            None => Pin::new(&mut self.rest).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.frames.is_empty() && self.rest.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (rest, mut both) = (self.rest.size_hint(), SizeHint::new());
        both.set_lower(self.bytes + rest.lower());
        // A body with a length cannot be sent with trailers, so no length is announced.
        if let Some(upper) = rest.upper().filter(|_| !self.has_trailers) {
            both.set_upper(self.bytes + upper);
        }
        both
    }
}
