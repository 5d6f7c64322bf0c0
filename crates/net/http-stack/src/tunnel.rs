//! Connections after a switch to another protocol (RFC 9110 section 7.8), for example WebSocket.

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

/// The byte stream of a connection, in cleartext or over TLS.
pub trait Bytestream: AsyncRead + AsyncWrite + Send + Unpin {
    /// Makes a later drop reset the connection, if possible, so that the peer cannot take truncated data
    /// as complete. Unsent data is lost.
    fn reset(&mut self);
}

impl Bytestream for TcpStream {
    fn reset(&mut self) {
        // This fails only on a closed connection, which needs no reset.
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

impl Bytestream for DuplexStream {
    fn reset(&mut self) {}
}

/// The connection of a 101 response. A client finds the connection in the response's extensions; a
/// handler adds the function that takes over the client's connection.
pub struct Tunnel<T>(Arc<Mutex<Option<T>>>);

impl<T> Clone for Tunnel<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// The connection that a client receives.
pub type Upstream = Tunnel<Box<dyn Bytestream>>;

/// The handler's function for the connection. Its future is dropped if the server is stopped finally.
pub type Downstream = Tunnel<Box<dyn FnOnce(Box<dyn Bytestream>) -> Going + Send>>;

/// The future that runs a tunnel until its end.
pub type Going = Pin<Box<dyn Future<Output = ()> + Send>>;

impl<T> Tunnel<T> {
    pub(crate) fn new(what: T) -> Self {
        Self(Arc::new(Mutex::new(Some(what))))
    }

    /// Takes the contents, once.
    pub fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Upstream {
    /// Wraps another stream as the connection, for example a nested stream.
    pub fn of(stream: impl Bytestream + 'static) -> Self {
        Self::new(Box::new(stream))
    }
}

impl Downstream {
    /// Sets the function that takes over the connection after the response's head has been sent.
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
