//! A request's body as a handler gets it: as the client sends it, if the client does.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use hyper::body::{Body as Frames, Frame, Incoming, SizeHint};
use tokio::time::Sleep;

use crate::{Body, Failure, Stage};

/// The body of a request whose next piece may take `patience` to come.
pub(super) fn patient(body: Incoming, patience: Duration) -> Body {
    if body.is_end_stream() { Body::empty() } else { Body::stream(Upload { body, patience, deadline: None }) }
}

struct Upload {
    body: Incoming,
    patience: Duration,
    /// While somebody waits for the next piece.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl Frames for Upload {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) {
            self.deadline = None;
            return Poll::Ready(
                frame.map(|frame| frame.map_err(|error| Failure::from_hyper(&error, Stage::Body))),
            );
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
