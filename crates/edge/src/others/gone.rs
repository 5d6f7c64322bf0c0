//! When another data centre is gone: which failures say so, and a body that ends with who sends it.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use http::{
    Body, Bytes, Failure,
    body::{Frame, Frames, SizeHint},
};

/// Ends when another data centre does not answer any more.
pub(crate) type Gone = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Whether a failure is the link's, and not of one request.
pub(crate) fn is_of_link(failure: Failure) -> bool {
    matches!(
        failure,
        Failure::Refused
            | Failure::Reset
            | Failure::Unreachable
            | Failure::KernelTimeout
            | Failure::Tls(_)
            | Failure::Closed(_)
    )
}

/// A body that breaks off when who sends it is gone. One that is in memory is here already.
pub(crate) fn until_gone(body: Body, gone: Gone) -> Body {
    if body.again().is_some() { body } else { Body::stream(UntilGone { body, gone }) }
}

/// A body that breaks off when who sends it is gone, which may be long before its connection is given up.
struct UntilGone {
    body: Body,
    gone: Gone,
}

impl Frames for UntilGone {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        match Pin::new(&mut self.body).poll_frame(cx) {
            Poll::Pending if self.gone.as_mut().poll(cx).is_ready() => {
                Poll::Ready(Some(Err(Failure::Timeout)))
            }
            polled => polled,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
