//! The body of a response on an HTTP/2 stream.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use h2::RecvStream;
use hyper::body::{Body, Frame};

use super::{super::mux_state::StreamCount, upload::Upload};
use crate::{Failure, http2::poll_frame};

pub(crate) struct Download {
    stream: RecvStream,
    /// Once the response is complete, the server does not need the rest.
    _upload: Option<Upload>,
    _counted: StreamCount,
}

impl Download {
    pub(super) fn new(stream: RecvStream, upload: Option<Upload>, counted: StreamCount) -> Self {
        Self { stream, _upload: upload, _counted: counted }
    }
}

impl Body for Download {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        poll_frame(&mut self.stream, cx)
    }

    fn is_end_stream(&self) -> bool {
        self.stream.is_end_stream()
    }
}
