//! The instrumented stream between an HTTP library and its connection: when bytes went out and came in.
//!
//! It lies above TLS, so bytes are those of HTTP. A stamp of writing is taken once the kernel (or TLS, and
//! then at its flush the kernel) has accepted the bytes, one of reading when they are handed over; neither
//! depends on when the runtime gets round to the task that asked.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::clock::Clock;

/// A connection, in clear text or under TLS.
pub(crate) trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Connection for T {}

/// Stamps of one connection in nanoseconds of the run's clock; 0 is "not yet".
pub(crate) struct Wire {
    clock: Clock,
    first_write: AtomicU64,
    last_write: AtomicU64,
    first_read: AtomicU64,
    first_interim: AtomicU64,
    last_read: AtomicU64,
    /// Requests of a shared connection that wait for their last byte to be written.
    waiting: Mutex<Vec<Arc<AtomicU64>>>,
}

impl Wire {
    pub(crate) fn new(clock: Clock) -> Self {
        Self {
            clock,
            first_write: AtomicU64::new(0),
            last_write: AtomicU64::new(0),
            first_read: AtomicU64::new(0),
            first_interim: AtomicU64::new(0),
            last_read: AtomicU64::new(0),
            waiting: Mutex::default(),
        }
    }

    /// A request begins on a connection that has no other: forget the one before.
    pub(crate) fn begin(&self) {
        for stamp in [&self.first_write, &self.last_write, &self.first_read, &self.first_interim] {
            stamp.store(0, Relaxed);
        }
    }

    /// An interim response has been read: what comes next may be the first byte of the final one.
    pub(crate) fn interim(&self) {
        if let Some(first) = self.first_read() {
            let _ = self.first_interim.compare_exchange(0, first, Relaxed, Relaxed);
        }
        self.first_read.store(0, Relaxed);
    }

    /// The next flush carries the last byte of a request: `written` shall get its time.
    pub(crate) fn when_flushed(&self, written: Arc<AtomicU64>) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(written);
    }

    /// When the first bytes since [`Self::begin`] were handed to the kernel.
    pub(crate) fn first_write(&self) -> Option<u64> {
        happened(&self.first_write)
    }

    /// When the kernel had accepted the last bytes since [`Self::begin`].
    pub(crate) fn last_write(&self) -> Option<u64> {
        happened(&self.last_write)
    }

    /// When the first bytes came in since [`Self::begin`] or the last [`Self::interim`].
    pub(crate) fn first_read(&self) -> Option<u64> {
        happened(&self.first_read)
    }

    /// When the first bytes of the first interim response came in.
    pub(crate) fn first_interim(&self) -> Option<u64> {
        happened(&self.first_interim)
    }

    /// When bytes last came in on this connection, for whichever request.
    pub(crate) fn last_read(&self) -> Option<u64> {
        happened(&self.last_read)
    }

    fn wrote(&self, from: u64) {
        let _ = self.first_write.compare_exchange(0, from, Relaxed, Relaxed);
        self.last_write.store(self.clock.now(), Relaxed);
    }

    fn flushed(&self) {
        let now = self.clock.now();
        self.last_write.store(now, Relaxed);
        for written in self.waiting.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            written.store(now, Relaxed);
        }
    }

    fn read(&self) {
        let now = self.clock.now();
        let _ = self.first_read.compare_exchange(0, now, Relaxed, Relaxed);
        self.last_read.store(now, Relaxed);
    }
}

/// The value of a stamp that has happened.
pub(crate) fn happened(stamp: &AtomicU64) -> Option<u64> {
    Some(stamp.load(Relaxed)).filter(|&at| at > 0)
}

/// A connection whose reads and writes are stamped.
pub(crate) struct Tap {
    stream: Box<dyn Connection>,
    wire: Arc<Wire>,
    /// Whether something was written since the last flush.
    unflushed: bool,
}

impl Tap {
    pub(crate) fn new(stream: Box<dyn Connection>, wire: Arc<Wire>) -> Self {
        Self { stream, wire, unflushed: false }
    }

    fn stamp_write(&mut self, from: u64, written: &io::Result<usize>) {
        if matches!(written, Ok(bytes) if *bytes > 0) {
            self.wire.wrote(from);
            self.unflushed = true;
        }
    }
}

impl AsyncRead for Tap {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let result = ready!(Pin::new(&mut self.stream).poll_read(cx, buf));
        if buf.filled().len() > before {
            self.wire.read();
        }
        Poll::Ready(result)
    }
}

impl AsyncWrite for Tap {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let from = self.wire.clock.now();
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, buf));
        self.stamp_write(from, &written);
        Poll::Ready(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let from = self.wire.clock.now();
        let written = ready!(Pin::new(&mut self.stream).poll_write_vectored(cx, bufs));
        self.stamp_write(from, &written);
        Poll::Ready(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = ready!(Pin::new(&mut self.stream).poll_flush(cx));
        if self.unflushed && result.is_ok() {
            self.unflushed = false;
            self.wire.flushed();
        }
        Poll::Ready(result)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
