//! A request's body for a handler, with timeout and `100-continue`.

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
use crate::{Body, Failure, body::ReadTimeout, http1::framing};

pub(super) fn patient(
    body: impl Frames<Data = Bytes, Error = Failure> + Send + Unpin + 'static,
    patience: Duration,
) -> Body {
    if body.is_end_stream() { Body::empty() } else { Body::stream(ReadTimeout::new(body, patience)) }
}

/// If the client expects it (RFC 9110 section 10.1.1), a 100 response is sent when the handler
/// first waits for the body.
pub(super) fn told_to_go_on<B>(body: B, headers: &HeaderMap, interim: &Interim) -> ExpectContinue<B> {
    let waits = framing::has_token(headers, &EXPECT, "100-continue");
    ExpectContinue { body, interim: waits.then(|| interim.clone()) }
}

pub(super) struct ExpectContinue<B> {
    body: B,
    interim: Option<Interim>,
}

impl<B: Frames<Data = Bytes, Error = Failure> + Unpin> Frames for ExpectContinue<B> {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
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
