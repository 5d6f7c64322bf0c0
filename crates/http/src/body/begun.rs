//! A body of which the first frame was read already, or that was seen to break off before it.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use hyper::body::{Body as Frames, Frame, SizeHint};

use crate::{Body, Failure};

pub(crate) struct Begun {
    first: Option<Result<Frame<Bytes>, Failure>>,
    rest: Body,
}

impl Begun {
    pub(crate) fn new(first: Result<Frame<Bytes>, Failure>, rest: Body) -> Self {
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
            Some(first) => Poll::Ready(Some(first)),
            None => Pin::new(&mut self.rest).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && self.rest.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (rest, mut both) = (self.rest.size_hint(), SizeHint::new());
        let first = match &self.first {
            None | Some(Err(_)) => 0,
            Some(Ok(frame)) => match frame.data_ref() {
                Some(data) => data.len() as u64,
                // A body with trailers has no length that could be announced.
                None => return both,
            },
        };
        both.set_lower(rest.lower() + first);
        if let Some(upper) = rest.upper() {
            both.set_upper(upper + first);
        }
        both
    }
}
