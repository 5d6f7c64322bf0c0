//! An incoming body on an HTTP/3 stream.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::{Buf, Bytes};
use h3::{client, error::StreamError, quic::RecvStream, server};
use hyper::{
    HeaderMap,
    body::{Body, Frame},
};

use super::MALFORMED;
use crate::{Failure, Stage, http1::clear_trailers};

pub(crate) trait Receive {
    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, StreamError>>;
    fn poll_trailers(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<HeaderMap>, StreamError>>;
}

/// h3's client and server streams have the same methods but no common trait.
macro_rules! receive {
    ($stream:ty) => {
        impl<S: RecvStream> Receive for $stream {
            fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, StreamError>> {
                let data = ready!(self.poll_recv_data(cx))?;
                Poll::Ready(Ok(data.map(|mut data| data.copy_to_bytes(data.remaining()))))
            }

            fn poll_trailers(
                &mut self,
                cx: &mut Context<'_>,
            ) -> Poll<Result<Option<HeaderMap>, StreamError>> {
                self.poll_recv_trailers(cx)
            }
        }
    };
}

receive!(client::RequestStream<S, Bytes>);
receive!(server::RequestStream<S, Bytes>);

pub(crate) struct Incoming<R, K> {
    stream: R,
    left: Option<u64>,
    stage: BodyStage,
    _kept: K,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BodyStage {
    Data,
    Trailers,
    End,
}

impl<R, K> Incoming<R, K> {
    pub(crate) fn new(stream: R, announced: Option<u64>, kept: K) -> Self {
        Self { stream, left: announced, stage: BodyStage::Data, _kept: kept }
    }

    /// h3 does not compare a body with its announced length, as RFC 9114 section 4.1.2 requires.
    fn count(&mut self, bytes: u64) -> Result<(), Failure> {
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(bytes).ok_or(MALFORMED)?;
        }
        Ok(())
    }
}

impl<R: Receive + Unpin, K: Unpin> Body for Incoming<R, K> {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let failed = |error: StreamError| Failure::from_h3(&error, Stage::Body);
        if self.stage == BodyStage::Data {
            if let Some(data) = ready!(self.stream.poll_data(cx)).map_err(failed)? {
                self.count(data.len() as u64)?;
                return Poll::Ready(Some(Ok(Frame::data(data))));
            }
            if self.left.is_some_and(|left| left > 0) {
                return Poll::Ready(Some(Err(MALFORMED)));
            }
            self.stage = BodyStage::Trailers;
        }
        if self.stage == BodyStage::Trailers {
            let mut trailers = ready!(self.stream.poll_trailers(cx)).map_err(failed)?;
            if let Some(trailers) = &mut trailers {
                clear_trailers(trailers);
            }
            self.stage = BodyStage::End;
            return Poll::Ready(trailers.map(|trailers| Ok(Frame::trailers(trailers))));
        }
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        self.stage == BodyStage::End
    }
}
