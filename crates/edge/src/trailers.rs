//! Trailers of an origin's response, without what nobody outside may see.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use http::{
    Body, Bytes, Failure,
    body::{Frame, Frames, SizeHint},
};

/// The same body. One that is in memory has no trailers.
pub(crate) fn cleared(body: Body) -> Body {
    if body.again().is_some() { body } else { Body::stream(Cleared(body)) }
}

struct Cleared(Body);

impl Frames for Cleared {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let mut frame = ready!(Pin::new(&mut self.0).poll_frame(cx));
        if let Some(Ok(frame)) = &mut frame
            && let Some(fields) = frame.trailers_mut()
        {
            cache::internal::clear(fields);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}
