//! A body whose first frame, or failure, was read before.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use hyper::body::{Body as Frames, Frame, SizeHint};

use crate::{Body, Failure};

pub(crate) struct PeekedBody {
    first: Option<Result<Frame<Bytes>, Failure>>,
    rest: Body,
}

impl PeekedBody {
    pub(crate) fn new(first: Result<Frame<Bytes>, Failure>, rest: Body) -> Self {
        Self { first: Some(first), rest }
    }
}

impl Frames for PeekedBody {
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
        let first = self.first.as_ref().and_then(|first| first.as_ref().ok()?.data_ref());
        let first = first.map_or(0, |data| data.len() as u64);
        let rest = self.rest.size_hint();
        let mut both = SizeHint::new();
        both.set_lower(rest.lower() + first);
        if let Some(upper) = rest.upper() {
            both.set_upper(upper + first);
        }
        both
    }
}
