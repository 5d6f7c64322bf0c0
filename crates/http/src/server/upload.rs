//! A request's body as a handler gets it: as the client sends it, if the client does.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use hyper::{
    HeaderMap, StatusCode,
    body::{Body as Frames, Frame, SizeHint},
    header::EXPECT,
};

use super::interim::Interim;
use crate::{Body, Failure, body::Patient, http1::framing};

/// The body of a request whose next piece may take `patience` to come.
pub(super) fn patient(
    body: impl Frames<Data = Bytes, Error = Failure> + Send + Unpin + 'static,
    patience: Duration,
) -> Body {
    if body.is_end_stream() { Body::empty() } else { Body::stream(Patient::new(body, patience)) }
}

/// The body on a stream of HTTP/2 or HTTP/3. A client that waits to be told that somebody wants it (RFC 9110 section 10.1.1) is told so
/// when somebody does.
pub(super) fn told_to_go_on<B>(body: B, headers: &HeaderMap, interim: &Interim) -> HeldBack<B> {
    let waits = framing::has_token(headers, &EXPECT, "100-continue");
    HeldBack { body, interim: waits.then(|| interim.clone()) }
}

/// A body of which nothing may come before its client is told to go on.
pub(super) struct HeldBack<B> {
    body: B,
    /// Tells it.
    interim: Option<Interim>,
}

impl<B: Frames<Data = Bytes, Error = Failure> + Unpin> Frames for HeldBack<B> {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        // A client that did not wait need not be told.
        if let Some(interim) = self.interim.take()
            && frame.is_pending()
        {
            interim.send(StatusCode::CONTINUE, HeaderMap::new());
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
