//! A QUIC connection as h3 sees it, with a bound on what h3 collects.
//!
//! h3 keeps a frame until it is whole, however long it says that it is, and looks at the limit of headers only then; DATA alone comes
//! in pieces. So a frame of another kind that is longer than a header may be ends its stream here, when it begins.

mod frames;

use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h3::{
    error::Code,
    quic::{self, ConnectionErrorIncoming, StreamErrorIncoming, StreamId, WriteBuf},
};

use self::frames::Frames;
pub(crate) use self::frames::TooLong;

type Send = h3_quinn::SendStream<Bytes>;
type Polled<T> = Poll<Result<T, StreamErrorIncoming>>;

/// A connection whose streams are bounded.
pub(crate) struct Connection(h3_quinn::Connection);

/// What opens streams of such a connection.
#[derive(Clone)]
pub(crate) struct OpenStreams(h3_quinn::OpenStreams);

/// A stream in both directions.
pub(crate) struct BidiStream {
    both: h3_quinn::BidiStream<Bytes>,
    frames: Frames,
}

/// The receiving half of a stream.
pub(crate) struct RecvStream {
    stream: h3_quinn::RecvStream,
    frames: Frames,
}

impl Connection {
    pub(crate) fn new(connection: quinn::Connection) -> Self {
        Self(h3_quinn::Connection::new(connection))
    }
}

impl quic::Connection<Bytes> for Connection {
    type RecvStream = RecvStream;
    type OpenStreams = OpenStreams;

    fn poll_accept_recv(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<RecvStream, ConnectionErrorIncoming>> {
        let stream = ready!(quic::Connection::<Bytes>::poll_accept_recv(&mut self.0, cx))?;
        Poll::Ready(Ok(RecvStream { stream, frames: Frames::after_type() }))
    }

    fn poll_accept_bidi(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<BidiStream, ConnectionErrorIncoming>> {
        let both = ready!(self.0.poll_accept_bidi(cx))?;
        Poll::Ready(Ok(BidiStream { both, frames: Frames::default() }))
    }

    fn opener(&self) -> OpenStreams {
        OpenStreams(quic::Connection::<Bytes>::opener(&self.0))
    }
}

/// A connection opens streams as that does which it gives out for it.
macro_rules! open_streams {
    ($opener:ty) => {
        impl quic::OpenStreams<Bytes> for $opener {
            type BidiStream = BidiStream;
            type SendStream = Send;

            fn poll_open_bidi(&mut self, cx: &mut Context<'_>) -> Polled<BidiStream> {
                let both = ready!(self.0.poll_open_bidi(cx))?;
                Poll::Ready(Ok(BidiStream { both, frames: Frames::default() }))
            }

            fn poll_open_send(&mut self, cx: &mut Context<'_>) -> Polled<Send> {
                self.0.poll_open_send(cx)
            }

            fn close(&mut self, code: Code, reason: &[u8]) {
                quic::OpenStreams::<Bytes>::close(&mut self.0, code, reason);
            }
        }
    };
}

open_streams!(Connection);
open_streams!(OpenStreams);

impl quic::BidiStream<Bytes> for BidiStream {
    type SendStream = Send;
    type RecvStream = RecvStream;

    fn split(self) -> (Send, RecvStream) {
        let (send, stream) = self.both.split();
        (send, RecvStream { stream, frames: self.frames })
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

/// Both have a stream that receives, and the frames in it.
macro_rules! recv_stream {
    ($stream:ty, $inner:ident) => {
        impl quic::RecvStream for $stream {
            type Buf = Bytes;

            fn poll_data(&mut self, cx: &mut Context<'_>) -> Polled<Option<Bytes>> {
                let data = ready!(self.$inner.poll_data(cx))?;
                if let Some(data) = &data {
                    self.frames.take(data).map_err(|long| StreamErrorIncoming::Unknown(Box::new(long)))?;
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
