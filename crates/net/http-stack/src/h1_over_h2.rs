//! HTTP/1.1 connections over streams of an HTTP/2 connection, with the extended CONNECT of RFC 8441.
//!
//! Here the stream stays open and carries consecutive HTTP/1.1 requests.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::{Buf, Bytes};
use h2::{Reason, RecvStream, SendStream, client::ResponseFuture, ext::Protocol};
use hyper::{Method, http::request};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::{http1::SendfileIo, http2::poll_data, tunnel::Bytestream};

pub(crate) struct H1OverH2<C> {
    sending: SendStream<Bytes>,
    receiving: Receiving,
    unread: Bytes,
    _counted: C,
}

enum Receiving {
    Awaited(ResponseFuture),
    Agreed(RecvStream),
}

impl<C> H1OverH2<C> {
    pub(crate) fn asked_for(sending: SendStream<Bytes>, response: ResponseFuture, counted: C) -> Self {
        Self { sending, receiving: Receiving::Awaited(response), unread: Bytes::new(), _counted: counted }
    }

    pub(crate) fn agreed_to(sending: SendStream<Bytes>, receiving: RecvStream, counted: C) -> Self {
        Self { sending, receiving: Receiving::Agreed(receiving), unread: Bytes::new(), _counted: counted }
    }

    fn room(&mut self, cx: &mut Context<'_>, bytes: usize) -> Poll<io::Result<usize>> {
        self.sending.reserve_capacity(bytes);
        let room = match self.sending.capacity() {
            0 => match ready!(self.sending.poll_capacity(cx)) {
                Some(room) => room.map_err(io_error)?,
                None => return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
            },
            room => room,
        };
        Poll::Ready(Ok(room.min(bytes)))
    }
}

pub(crate) fn is_asked_for(head: &request::Parts) -> bool {
    let protocol = head.extensions.get::<Protocol>();
    head.method == Method::CONNECT && protocol.is_some_and(|protocol| *protocol == PROTOCOL)
}

impl<C: Send + Unpin> Bytestream for H1OverH2<C> {
    fn reset(&mut self) {
        self.sending.send_reset(Reason::CANCEL);
    }
}

impl<C: Send + Unpin> SendfileIo for H1OverH2<C> {}

impl<C: Unpin> AsyncRead for H1OverH2<C> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { receiving, unread, .. } = &mut *self;
        if let Receiving::Awaited(response) = receiving {
            let response = ready!(Pin::new(response).poll(cx)).map_err(io_error)?;
            if !response.status().is_success() {
                return Poll::Ready(Err(io::ErrorKind::ConnectionRefused.into()));
            }
            *receiving = Receiving::Agreed(response.into_body());
        }
        let Receiving::Agreed(stream) = receiving else { return Poll::Pending };
        while unread.is_empty() {
            match ready!(poll_data(stream, cx)) {
                None => return Poll::Ready(Ok(())),
                Some(data) => *unread = data.map_err(io_error)?,
            }
        }
        let most = unread.len().min(to.remaining());
        to.put_slice(&unread[..most]);
        unread.advance(most);
        Poll::Ready(Ok(()))
    }
}

impl<C: Unpin> AsyncWrite for H1OverH2<C> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[io::IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let bytes = parts.iter().map(|part| part.len()).sum::<usize>().min(AT_ONCE);
        if bytes == 0 {
            return Poll::Ready(Ok(0));
        }
        let room = ready!(self.room(cx, bytes))?;
        let mut data = Vec::with_capacity(room);
        for part in parts {
            data.extend_from_slice(&part[..part.len().min(room - data.len())]);
        }
        self.sending.send_data(data.into(), false).map_err(io_error)?;
        Poll::Ready(Ok(room))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// The connection's task flushes.
    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.sending.send_data(Bytes::new(), true).map_err(io_error))
    }
}

fn io_error(error: h2::Error) -> io::Error {
    match error.get_io() {
        Some(inner) => inner.kind().into(),
        None => io::Error::new(io::ErrorKind::ConnectionReset, error),
    }
}

/// The requested protocol, as in the registry of upgrade tokens (RFC 9110 section 16.7).
pub(crate) const PROTOCOL: Protocol = Protocol::from_static("HTTP/1.1");

/// The most bytes passed to the connection per write, so that one stream does not reserve the shared
/// window.
const AT_ONCE: usize = 256 << 10;
