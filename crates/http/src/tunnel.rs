//! A connection on which HTTP has ended and something else goes on (RFC 9110 section 7.8): a WebSocket, for one.

use std::{
    fmt, io,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use bytes::{Buf, Bytes};
use socket2::SockRef;
use tokio::{
    io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf},
    net::TcpStream,
};
use tokio_rustls::{client, server};

/// The bytes of a connection in both directions, in clear text or under TLS.
pub trait Bytestream: AsyncRead + AsyncWrite + Send + Unpin {
    /// Has the connection be reset when this is dropped, where it can be, so that who is at its other end cannot take what came for all there
    /// is. What was written and is not sent yet is lost.
    fn reset(&mut self);
}

impl Bytestream for TcpStream {
    fn reset(&mut self) {
        // One that is gone already needs none.
        let _ = SockRef::from(&*self).set_linger(Some(Duration::ZERO));
    }
}

impl<S: Bytestream> Bytestream for server::TlsStream<S> {
    fn reset(&mut self) {
        self.get_mut().0.reset();
    }
}

impl<S: Bytestream> Bytestream for client::TlsStream<S> {
    fn reset(&mut self) {
        self.get_mut().0.reset();
    }
}

/// It ends within this process, and only in order.
impl Bytestream for DuplexStream {
    fn reset(&mut self) {}
}

/// The connection of a 101 response. A client finds it among the response's extensions; a handler puts one there that says what is
/// to be done with the visitor's connection.
pub struct Tunnel<T>(Arc<Mutex<Option<T>>>);

impl<T> Clone for Tunnel<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// What a client gets: the connection itself.
pub type Upstream = Tunnel<Box<dyn Bytestream>>;

/// What a handler gives: what becomes of the connection. It is dropped if the server is stopped for good.
pub type Downstream = Tunnel<Box<dyn FnOnce(Box<dyn Bytestream>) -> Going + Send>>;

/// What goes on until a tunnel ends.
pub type Going = Pin<Box<dyn Future<Output = ()> + Send>>;

impl<T> Tunnel<T> {
    pub(crate) fn new(what: T) -> Self {
        Self(Arc::new(Mutex::new(Some(what))))
    }

    /// What is in it, once.
    pub fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Upstream {
    /// What takes the place of a connection: a stream on one, for example.
    pub fn of(stream: impl Bytestream + 'static) -> Self {
        Self::new(Box::new(stream))
    }
}

impl Downstream {
    /// What is to be done with the connection once the response's head was sent.
    pub fn then<F: Future<Output = ()> + Send + 'static>(
        go: impl FnOnce(Box<dyn Bytestream>) -> F + Send + 'static,
    ) -> Self {
        Self::new(Box::new(move |stream| Box::pin(go(stream))))
    }
}

impl<T> fmt::Debug for Tunnel<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tunnel")
    }
}

/// A stream of which some bytes were read already.
pub(crate) struct Begun<S> {
    read: Bytes,
    rest: S,
}

impl<S> Begun<S> {
    pub(crate) fn new(read: Bytes, rest: S) -> Self {
        Self { read, rest }
    }
}

impl<S: Bytestream> Bytestream for Begun<S> {
    fn reset(&mut self) {
        self.rest.reset();
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Begun<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.read.is_empty() {
            return Pin::new(&mut self.rest).poll_read(cx, buf);
        }
        let most = self.read.len().min(buf.remaining());
        buf.put_slice(&self.read[..most]);
        self.read.advance(most);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Begun<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.rest).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.rest).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.rest).poll_shutdown(cx)
    }
}
