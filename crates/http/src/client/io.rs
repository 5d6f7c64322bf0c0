//! The stream between an HTTP library and its connection, which stamps when bytes went out and came in.
//!
//! It lies above TLS, so bytes are those of HTTP. A stamp of writing is of the moment before the call in which the kernel took the
//! bytes, as a packet may arrive before the call returns; one of reading is of when they are handed over. Neither
//! depends on when the runtime gets round to the task that asked.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{
    stamps::{Stamps, happened},
    wire::Wire,
};
use crate::{clock::Clock, http1::Outlet, tunnel::Bytestream};

/// A connection, in clear text or under TLS.
pub(crate) trait Connection: Bytestream {}

impl<T: Bytestream> Connection for T {}

/// Stamps the bytes of one connection for the requests on it.
#[derive(Debug)]
pub(crate) struct Recorder {
    clock: Clock,
    wire: Arc<Wire>,
    last_read: AtomicU64,
    /// The request that has the connection to itself.
    alone: Mutex<Option<Arc<Stamps>>>,
    /// Requests of a shared connection that wait for their last byte to be written.
    unflushed: Mutex<Vec<Arc<Stamps>>>,
}

impl Recorder {
    /// Of a connection whose bytes are counted in `wire`.
    pub(crate) fn new(wire: Arc<Wire>, clock: Clock) -> Self {
        let last_read = AtomicU64::new(0);
        Self { clock, wire, last_read, alone: Mutex::default(), unflushed: Mutex::default() }
    }

    /// What counts the connection's bytes.
    pub(crate) fn wire(&self) -> &Wire {
        &self.wire
    }

    /// A request begins on a connection that has no other: from here on the bytes are its own.
    pub(crate) fn begin(&self, stamps: Arc<Stamps>) {
        stamps.mark(self.wire.begin(true));
        *lock(&self.alone) = Some(stamps);
    }

    /// The next flush carries the last byte of this request.
    pub(crate) fn when_flushed(&self, stamps: Arc<Stamps>) {
        lock(&self.unflushed).push(stamps);
    }

    /// When bytes last came in on this connection, for whichever request.
    pub(crate) fn last_read(&self) -> Option<u64> {
        happened(&self.last_read)
    }

    pub(crate) fn now(&self) -> u64 {
        self.clock.now()
    }

    fn wrote(&self, from: u64) {
        if let Some(stamps) = &*lock(&self.alone) {
            stamps.wrote(from, self.handed(from));
        }
    }

    /// What was handed over until now has gone out, in a call that began at `from` or in one before.
    pub(crate) fn flushed(&self, from: u64) {
        let at = self.handed(from);
        if let Some(stamps) = &*lock(&self.alone) {
            stamps.flushed(at);
        }
        for stamps in lock(&self.unflushed).drain(..) {
            stamps.flushed(at);
        }
    }

    /// When the kernel was given the last bytes; `from` where nobody counts them.
    fn handed(&self, from: u64) -> u64 {
        self.wire.handed().unwrap_or(from)
    }

    /// Bytes came in.
    pub(crate) fn read(&self) {
        let now = self.clock.now();
        if let Some(stamps) = &*lock(&self.alone) {
            stamps.read(now);
        }
        self.last_read.store(now, Relaxed);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A connection whose reads and writes are stamped.
pub(crate) struct Io {
    stream: Box<dyn Connection>,
    recorder: Arc<Recorder>,
    /// Whether something was written since the last flush.
    is_unflushed: bool,
}

impl Io {
    pub(crate) fn new(stream: Box<dyn Connection>, recorder: Arc<Recorder>) -> Self {
        Self { stream, recorder, is_unflushed: false }
    }

    fn stamp_write(&mut self, from: u64, written: &io::Result<usize>) {
        if matches!(written, Ok(bytes) if *bytes > 0) {
            self.recorder.wrote(from);
            self.is_unflushed = true;
        }
    }
}

impl Bytestream for Io {
    fn reset(&mut self) {
        self.stream.reset();
    }
}

/// What is written is stamped, so all of it goes the same way.
impl Outlet for Io {}

impl AsyncRead for Io {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let result = ready!(Pin::new(&mut self.stream).poll_read(cx, buf));
        if buf.filled().len() > before {
            self.recorder.read();
        }
        Poll::Ready(result)
    }
}

impl AsyncWrite for Io {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let from = self.recorder.now();
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, buf));
        self.stamp_write(from, &written);
        Poll::Ready(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let from = self.recorder.now();
        let written = ready!(Pin::new(&mut self.stream).poll_write_vectored(cx, bufs));
        self.stamp_write(from, &written);
        Poll::Ready(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.is_unflushed {
            return Pin::new(&mut self.stream).poll_flush(cx);
        }
        let from = self.recorder.wire.handed().unwrap_or_else(|| self.recorder.now());
        let result = ready!(Pin::new(&mut self.stream).poll_flush(cx));
        if result.is_ok() {
            self.is_unflushed = false;
            self.recorder.flushed(from);
        }
        Poll::Ready(result)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
