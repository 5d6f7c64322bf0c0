//! The raw bytes of a connection after a 101 response.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use hyper::Response;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{super::pool::Lease, Io};
use crate::{
    Body,
    tunnel::{Begun, Bytestream, Upstream},
};

pub(crate) fn switched(response: Response<()>, mut lease: Lease) -> Response<Body> {
    let read = lease.connection().switch();
    let mut response = response.map(|()| Body::empty());
    response.extensions_mut().insert(Upstream::new(Box::new(Begun::new(read, Upgraded(lease)))));
    response
}

struct Upgraded(Lease);

impl Upgraded {
    fn io(self: Pin<&mut Self>) -> Pin<&mut Io> {
        Pin::new(&mut self.get_mut().0.connection().io)
    }
}

impl Bytestream for Upgraded {
    fn reset(&mut self) {
        self.0.connection().io.reset();
    }
}

impl AsyncRead for Upgraded {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.io().poll_read(cx, buf)
    }
}

impl AsyncWrite for Upgraded {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.io().poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io().poll_shutdown(cx)
    }
}
