//! A body of any length without content.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use http_stack::{
    Bytes, Failure,
    body::{Frame, Frames, SizeHint},
};

pub(crate) struct Zeros {
    left: u64,
}

impl Zeros {
    pub(crate) fn new(bytes: u64) -> Self {
        Self { left: bytes }
    }
}

impl Frames for Zeros {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let size = usize::try_from(self.left).unwrap_or(usize::MAX).min(ZEROS.len());
        self.left -= size as u64;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&ZEROS[..size])))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

static ZEROS: [u8; 64 * 1024] = [0; 64 * 1024];
