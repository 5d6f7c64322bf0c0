//! A QUIC connection for h3 with bounded buffers, which rejects malformed requests.
//!
//! h3 buffers a frame until it is complete, whatever its announced length, and checks the header
//! limit only then. So this layer ends a stream at the start of any other frame that exceeds the
//! header limit.
//!
//! h3 turns a field section into a map: it keeps the last of two equal pseudo-header fields, and it
//! accepts connection-specific fields. This layer validates the field sections of requests before
//! h3 receives their last byte.

mod frames;
mod sections;

use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h3::{
    error::Code,
    quic::{self, ConnectionErrorIncoming, StreamErrorIncoming, StreamId, WriteBuf},
};

use self::frames::Frames;
pub(crate) use self::sections::Refused;

type Send = h3_quinn::SendStream<Bytes>;
type Polled<T> = Poll<Result<T, StreamErrorIncoming>>;

pub(crate) struct Connection {
    http3: h3_quinn::Connection,
    quic: quinn::Connection,
}

#[derive(Clone)]
pub(crate) struct OpenStreams(h3_quinn::OpenStreams);

pub(crate) struct BidiStream {
    both: h3_quinn::BidiStream<Bytes>,
    frames: Frames,
    quic: Option<quinn::Connection>,
}

pub(crate) struct RecvStream {
    stream: h3_quinn::RecvStream,
    frames: Frames,
    quic: Option<quinn::Connection>,
}

impl Connection {
    pub(crate) fn new(connection: quinn::Connection) -> Self {
        Self { http3: h3_quinn::Connection::new(connection.clone()), quic: connection }
    }
}

impl quic::Connection<Bytes> for Connection {
    type RecvStream = RecvStream;
    type OpenStreams = OpenStreams;

    fn poll_accept_recv(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<RecvStream, ConnectionErrorIncoming>> {
        let stream = ready!(quic::Connection::<Bytes>::poll_accept_recv(&mut self.http3, cx))?;
        Poll::Ready(Ok(RecvStream { stream, frames: Frames::after_type(), quic: None }))
    }

    fn poll_accept_bidi(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<BidiStream, ConnectionErrorIncoming>> {
        let both = ready!(self.http3.poll_accept_bidi(cx))?;
        let quic = Some(self.quic.clone());
        Poll::Ready(Ok(BidiStream { both, frames: Frames::of_request(), quic }))
    }

    fn opener(&self) -> OpenStreams {
        OpenStreams(quic::Connection::<Bytes>::opener(&self.http3))
    }
}

macro_rules! open_streams {
    ($opener:ty, $inner:tt) => {
        impl quic::OpenStreams<Bytes> for $opener {
            type BidiStream = BidiStream;
            type SendStream = Send;

            fn poll_open_bidi(&mut self, cx: &mut Context<'_>) -> Polled<BidiStream> {
                let both = ready!(self.$inner.poll_open_bidi(cx))?;
                Poll::Ready(Ok(BidiStream { both, frames: Frames::default(), quic: None }))
            }

            fn poll_open_send(&mut self, cx: &mut Context<'_>) -> Polled<Send> {
                self.$inner.poll_open_send(cx)
            }

            fn close(&mut self, code: Code, reason: &[u8]) {
                quic::OpenStreams::<Bytes>::close(&mut self.$inner, code, reason);
            }
        }
    };
}

open_streams!(Connection, http3);
open_streams!(OpenStreams, 0);

impl quic::BidiStream<Bytes> for BidiStream {
    type SendStream = Send;
    type RecvStream = RecvStream;

    fn split(self) -> (Send, RecvStream) {
        let (send, stream) = self.both.split();
        (send, RecvStream { stream, frames: self.frames, quic: self.quic })
    }
}

impl quic::SendStream<Bytes> for BidiStream {
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Polled<()> {
        self.both.poll_ready(cx)
    }

    fn send_data<T: Into<WriteBuf<Bytes>>>(&mut self, data: T) -> Result<(), StreamErrorIncoming> {
        self.both.send_data(data)
    }

    fn poll_finish(&mut self, cx: &mut Context<'_>) -> Polled<()> {
        self.both.poll_finish(cx)
    }

    fn reset(&mut self, reset_code: u64) {
        self.both.reset(reset_code);
    }

    fn send_id(&self) -> StreamId {
        self.both.send_id()
    }
}

impl BidiStream {
    fn refuse(&mut self, refused: Refused) {
        close(self.quic.as_ref(), refused);
        let code = refused.code().value();
        quic::SendStream::<Bytes>::reset(&mut self.both, code);
        quic::RecvStream::stop_sending(&mut self.both, code);
    }
}

impl RecvStream {
    fn refuse(&mut self, refused: Refused) {
        close(self.quic.as_ref(), refused);
        quic::RecvStream::stop_sending(&mut self.stream, refused.code().value());
    }
}

/// A field section that cannot be decoded is a connection error (RFC 9204 section 2.2).
fn close(quic: Option<&quinn::Connection>, refused: Refused) {
    if let (Some(quic), Refused::Undecodable) = (quic, refused) {
        let code = u32::try_from(refused.code().value()).unwrap_or_default();
        quic.close(quinn::VarInt::from_u32(code), b"");
    }
}

macro_rules! recv_stream {
    ($stream:ty, $inner:ident) => {
        impl quic::RecvStream for $stream {
            type Buf = Bytes;

            fn poll_data(&mut self, cx: &mut Context<'_>) -> Polled<Option<Bytes>> {
                let data = ready!(self.$inner.poll_data(cx))?;
                if let Some(data) = &data
                    && let Err(refused) = self.frames.take(data)
                {
                    self.refuse(refused);
                    return Poll::Ready(Err(StreamErrorIncoming::Unknown(Box::new(refused))));
                }
                Poll::Ready(Ok(data))
            }

            fn stop_sending(&mut self, error_code: u64) {
                self.$inner.stop_sending(error_code);
            }

            fn recv_id(&self) -> StreamId {
                self.$inner.recv_id()
            }
        }
    };
}

recv_stream!(BidiStream, both);
recv_stream!(RecvStream, stream);
