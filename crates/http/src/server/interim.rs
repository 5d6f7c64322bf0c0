//! Interim responses (1xx) ahead of the final one, such as 103 Early Hints (RFC 8297).
//!
//! HTTP/3's go out on the request's stream. HTTP/1.1's are put between hyper and its connection, where hyper has no bytes of its own
//! on their way: hyper's server knows no interim responses but 100, and none for HTTP/2.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker, ready},
};

use hyper::{HeaderMap, Response, StatusCode};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::mpsc,
};

/// Sends interim responses to one request. It is among the extensions of requests that can have them: of HTTP/1.1 and
/// HTTP/3, not of HTTP/1.0 and HTTP/2.
#[derive(Debug, Clone)]
pub struct Interim(Way);

#[derive(Debug, Clone)]
enum Way {
    Http1(Arc<Waiting>),
    Http3(mpsc::UnboundedSender<Response<()>>),
}

impl Interim {
    /// Has an interim response sent, unless the final one is on its way. It goes out when the handler waits for something next.
    ///
    /// A status that is not 1xx, or 101, which ends HTTP on a connection, is not sent.
    pub fn send(&self, status: StatusCode, headers: HeaderMap) {
        if !status.is_informational() || status == StatusCode::SWITCHING_PROTOCOLS {
            return;
        }
        match &self.0 {
            Way::Http1(waiting) => waiting.push(status, &headers),
            Way::Http3(stream) => {
                let mut response = Response::new(());
                (*response.status_mut(), *response.headers_mut()) = (status, headers);
                // Whoever has answered finally takes no more.
                let _ = stream.send(response);
            }
        }
    }

    /// For a request on an HTTP/1.1 connection.
    pub(super) fn http1(waiting: &Arc<Waiting>) -> Self {
        Self(Way::Http1(Arc::clone(waiting)))
    }

    /// For a request on an HTTP/3 stream, and where its interim responses come out.
    pub(super) fn http3() -> (Self, mpsc::UnboundedReceiver<Response<()>>) {
        let (stream, interim) = mpsc::unbounded_channel();
        (Self(Way::Http3(stream)), interim)
    }
}

/// Interim responses of an HTTP/1.1 connection that are not written yet.
#[derive(Debug, Default)]
pub(super) struct Waiting(Mutex<Queue>);

#[derive(Debug, Default)]
struct Queue {
    bytes: Vec<u8>,
    /// The handler's task, which waits for them to be written.
    handler: Option<Waker>,
}

impl Waiting {
    fn push(&self, status: StatusCode, headers: &HeaderMap) {
        let bytes = &mut self.queue().bytes;
        bytes.extend(
            format!("HTTP/1.1 {} {}\r\n", status.as_str(), status.canonical_reason().unwrap_or("")).bytes(),
        );
        for (name, value) in headers {
            bytes.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
        }
        bytes.extend(b"\r\n");
    }

    /// Returns once all are written: what the handler answers comes after them.
    pub(super) async fn written(&self) {
        std::future::poll_fn(|cx| {
            let mut queue = self.queue();
            if queue.bytes.is_empty() {
                return Poll::Ready(());
            }
            queue.handler = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection on which interim responses are written whenever hyper has flushed what it had, which it does each time after
/// it has asked a handler how far it is.
pub(super) struct Interjecting<S> {
    stream: S,
    waiting: Arc<Waiting>,
}

impl<S> Interjecting<S> {
    pub(super) fn new(stream: S, waiting: Arc<Waiting>) -> Self {
        Self { stream, waiting }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Interjecting<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let mut queue = this.waiting.queue();
        while !queue.bytes.is_empty() {
            let written = ready!(Pin::new(&mut this.stream).poll_write(cx, &queue.bytes))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            queue.bytes.drain(..written);
        }
        if let Some(handler) = queue.handler.take() {
            handler.wake();
        }
        drop(queue);
        Pin::new(&mut this.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Interjecting<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}
