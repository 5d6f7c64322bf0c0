//! Counts the bytes of a connection: the payload of TCP or UDP, including TLS and its handshake, without
//! TCP/UDP headers and retransmissions. Also records when the last of them were passed to the kernel.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::{clock::Clock, tunnel::Bytestream};

/// Bytes in both directions, of a connection or of one exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WireBytes {
    /// Sent by this machine.
    pub sent: u64,
    /// Received by this machine.
    pub received: u64,
}

#[derive(Debug, Default)]
pub(crate) struct ByteCounter {
    sent: AtomicU64,
    received: AtomicU64,
    began: AtomicU64,
    handed: AtomicU64,
    requests: AtomicU64,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    request: u64,
    before: WireBytes,
}

impl ByteCounter {
    /// A packet may be sent before the call returns.
    pub(crate) fn sent(&self, bytes: usize, at: u64) {
        if bytes > 0 {
            self.sent.fetch_add(bytes as u64, Relaxed);
            self.handed.store(at, Relaxed);
            let _ = self.began.compare_exchange(0, at, Relaxed, Relaxed);
        }
    }

    pub(crate) fn began(&self) -> Option<u64> {
        Some(self.began.load(Relaxed)).filter(|&at| at > 0)
    }

    pub(crate) fn handed(&self) -> Option<u64> {
        Some(self.handed.load(Relaxed)).filter(|&at| at > 0)
    }

    pub(crate) fn received(&self, bytes: usize) {
        self.received.fetch_add(bytes as u64, Relaxed);
    }

    /// If it is alone, the first request counts from the start of the connection, later ones from
    /// now.
    pub(crate) fn begin(&self, is_alone: bool) -> Option<Mark> {
        let earlier = self.requests.fetch_add(1, Relaxed);
        let before = if earlier == 0 { WireBytes::default() } else { self.so_far() };
        is_alone.then_some(Mark { request: earlier + 1, before })
    }

    /// The next one counts from the start of the connection again.
    pub(crate) fn start_over(&self) {
        self.requests.store(0, Relaxed);
    }

    pub(crate) fn since(&self, mark: Mark) -> Option<WireBytes> {
        let (now, before) = (self.so_far(), mark.before);
        let of_it = WireBytes { sent: now.sent - before.sent, received: now.received - before.received };
        (self.requests.load(Relaxed) == mark.request).then_some(of_it)
    }

    fn so_far(&self) -> WireBytes {
        WireBytes { sent: self.sent.load(Relaxed), received: self.received.load(Relaxed) }
    }
}

pub(crate) struct Counted<S> {
    stream: S,
    wire: Arc<ByteCounter>,
    clock: Clock,
}

impl<S> Counted<S> {
    pub(crate) fn new(stream: S, wire: Arc<ByteCounter>, clock: Clock) -> Self {
        Self { stream, wire, clock }
    }

    pub(crate) fn began(&self) -> Option<u64> {
        self.wire.began()
    }
}

impl<S: Bytestream> Bytestream for Counted<S> {
    fn reset(&mut self) {
        self.stream.reset();
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Counted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let result = ready!(Pin::new(&mut self.stream).poll_read(cx, buf));
        self.wire.received(buf.filled().len() - before);
        Poll::Ready(result)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Counted<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let at = self.clock.now();
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, buf));
        self.wire.sent(*written.as_ref().unwrap_or(&0), at);
        Poll::Ready(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let at = self.clock.now();
        let written = ready!(Pin::new(&mut self.stream).poll_write_vectored(cx, bufs));
        self.wire.sent(*written.as_ref().unwrap_or(&0), at);
        Poll::Ready(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_belong_to_a_request_that_is_alone() {
        let wire = ByteCounter::default();
        assert_eq!((wire.began(), wire.handed()), (None, None));
        wire.sent(300, 5);
        wire.received(900);
        let first = wire.begin(true).unwrap();
        wire.received(100);
        assert_eq!(wire.since(first), Some(WireBytes { sent: 300, received: 1000 }));
        let second = wire.begin(true).unwrap();
        wire.sent(7, 8);
        wire.sent(0, 9);
        assert_eq!((wire.began(), wire.handed()), (Some(5), Some(8)));
        assert_eq!(wire.since(second), Some(WireBytes { sent: 7, received: 0 }));
        assert!(wire.begin(false).is_none());
        assert_eq!(wire.since(second), None);
    }
}
