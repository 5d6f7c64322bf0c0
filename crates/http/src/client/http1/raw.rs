//! A connection whose server switched to another protocol: its bytes, from the first behind the head of the 101.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Buf;
use hyper::Response;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::super::pool::Lease;
use crate::{Body, tunnel::Upstream};

/// The response of a server that switches to another protocol on `lease`.
pub(crate) fn switched(response: Response<()>, mut lease: Lease) -> Response<Body> {
    lease.connection().switch();
    let mut response = response.map(|()| Body::empty());
    response.extensions_mut().insert(Upstream::new(Box::new(Raw(lease))));
    response
}

/// The connection, which counts for its pool until it ends.
struct Raw(Lease);

impl AsyncRead for Raw {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let connection = self.get_mut().0.connection();
        if connection.input.is_empty() {
            return Pin::new(&mut connection.io).poll_read(cx, buf);
        }
        let most = connection.input.len().min(buf.remaining());
        buf.put_slice(&connection.input[..most]);
        connection.input.advance(most);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Raw {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().0.connection().io).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0.connection().io).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0.connection().io).poll_shutdown(cx)
    }
}
