//! The stream between an HTTP implementation and its connection, which stamps reads and writes.
//!
//! A write is stamped with the time before the call that passed the bytes to the kernel, because a
//! packet may arrive before the call returns. A read is stamped when the bytes are returned.

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
    byte_counter::ByteCounter,
    timestamps::{Stamps, happened},
};
use crate::{clock::Clock, http1::SendfileIo, tunnel::Bytestream};

pub(crate) trait Connection: Bytestream {}

impl<T: Bytestream> Connection for T {}

#[derive(Debug)]
pub(crate) struct Recorder {
    clock: Clock,
    wire: Arc<ByteCounter>,
    last_read: AtomicU64,
    alone: Mutex<Option<Arc<Stamps>>>,
    unflushed: Mutex<Vec<Arc<Stamps>>>,
}

impl Recorder {
    pub(crate) fn new(wire: Arc<ByteCounter>, clock: Clock) -> Self {
        let last_read = AtomicU64::new(0);
        Self { clock, wire, last_read, alone: Mutex::default(), unflushed: Mutex::default() }
    }

    pub(crate) fn wire(&self) -> &ByteCounter {
        &self.wire
    }

    /// All bytes from now on are attributed to it.
    pub(crate) fn begin(&self, stamps: Arc<Stamps>) {
        stamps.mark(self.wire.begin(true));
        *lock(&self.alone) = Some(stamps);
    }

    pub(crate) fn when_flushed(&self, stamps: Arc<Stamps>) {
        lock(&self.unflushed).push(stamps);
    }

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

    /// Everything passed to the connection was written by a call that began at `from` or earlier.
    pub(crate) fn flushed(&self, from: u64) {
        let at = self.handed(from);
        if let Some(stamps) = &*lock(&self.alone) {
            stamps.flushed(at);
        }
        for stamps in lock(&self.unflushed).drain(..) {
            stamps.flushed(at);
        }
    }

    fn handed(&self, from: u64) -> u64 {
        self.wire.handed().unwrap_or(from)
    }

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

pub(crate) struct Io {
    stream: Box<dyn Connection>,
    recorder: Arc<Recorder>,
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

/// Writes are stamped, so all of them use the same path.
impl SendfileIo for Io {}

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
