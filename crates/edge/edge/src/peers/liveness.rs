//! Detection of unreachable peers: failures that concern the link, and bodies that end when their
//! sender is lost.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use http_stack::{
    Body, Bytes, Failure,
    body::{Frame, Frames, SizeHint},
};

pub(crate) type PeerDown = Pin<Box<dyn Future<Output = ()> + Send>>;

pub(crate) fn is_link_failure(failure: Failure) -> bool {
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

/// A body in memory is complete and is returned unchanged.
pub(crate) fn abort_when_down(body: Body, down: PeerDown) -> Body {
    if body.again().is_some() { body } else { Body::stream(AbortWhenDown { body, down }) }
}

/// Fails when its sender becomes unreachable, possibly long before its connection times out.
struct AbortWhenDown {
    body: Body,
    down: PeerDown,
}

impl Frames for AbortWhenDown {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        match Pin::new(&mut self.body).poll_frame(cx) {
            Poll::Pending if self.down.as_mut().poll(cx).is_ready() => {
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
