//! When the bytes of one request and of its response moved.
//!
//! Shared by the caller, who reads them, the connection and the bodies: so a caller that gives up still has what was
//! measured until then.

use std::sync::{
    OnceLock,
    atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};

use super::wire::{Mark, Wire, WireBytes};

/// Stamps of one exchange in nanoseconds of the client's clock; 0 is "not yet".
#[derive(Debug, Default)]
pub(crate) struct Stamps {
    first_write: AtomicU64,
    last_write: AtomicU64,
    first_read: AtomicU64,
    first_interim: AtomicU64,
    first_body_byte: AtomicU64,
    last_byte: AtomicU64,
    body_bytes: AtomicU64,
    is_sent: AtomicBool,
    is_broken_off: AtomicBool,
    /// Where the connection's counters stood.
    mark: OnceLock<Mark>,
    wire: OnceLock<WireBytes>,
}

impl Stamps {
    /// Bytes of the request were handed over at `from`, and the last of them to the kernel at `last`.
    pub(crate) fn wrote(&self, from: u64, last: u64) {
        self.began(from);
        self.last_write.store(last.max(from), Relaxed);
    }

    /// The request was handed over.
    pub(crate) fn began(&self, at: u64) {
        set_once(&self.first_write, at);
    }

    /// What had been written was handed to the kernel.
    pub(crate) fn flushed(&self, at: u64) {
        self.last_write.store(at, Relaxed);
    }

    /// All of the request was handed to the kernel again, from `at`: what was sent before that counts for nothing.
    pub(crate) fn sent_again(&self, at: u64) {
        self.first_write.store(at, Relaxed);
        self.last_write.store(at, Relaxed);
    }

    /// Bytes came in.
    pub(crate) fn read(&self, at: u64) {
        set_once(&self.first_read, at);
    }

    /// An interim response was found: the next byte may be the first one of the final response.
    pub(crate) fn interim(&self) {
        if let Some(first) = self.first_read() {
            set_once(&self.first_interim, first);
        }
        self.first_read.store(0, Relaxed);
    }

    /// An interim response was found that came in at `at`.
    pub(crate) fn interim_at(&self, at: u64) {
        set_once(&self.first_interim, at);
    }

    /// A piece of the response's body was found that came in at `at`.
    pub(crate) fn received(&self, bytes: u64, at: u64) {
        set_once(&self.first_body_byte, at);
        self.body_bytes.fetch_add(bytes, Relaxed);
    }

    /// The request begins on a connection that had carried this much; `None` if there are others on it.
    pub(crate) fn mark(&self, mark: Option<Mark>) {
        if let Some(mark) = mark {
            let _ = self.mark.set(mark);
        }
    }

    /// The response is whole; its last byte came in at `at`.
    pub(crate) fn ended(&self, at: u64, wire: &Wire) {
        set_once(&self.last_byte, at);
        if let Some(bytes) = self.mark.get().and_then(|mark| wire.since(*mark)) {
            let _ = self.wire.set(bytes);
        }
    }

    /// The request's body was handed over to its end.
    pub(crate) fn set_sent(&self) {
        self.is_sent.store(true, Relaxed);
    }

    /// The request's body failed where it comes from.
    pub(crate) fn set_broken_off(&self) {
        self.is_broken_off.store(true, Relaxed);
    }

    pub(crate) fn is_sent(&self) -> bool {
        self.is_sent.load(Relaxed)
    }

    pub(crate) fn is_broken_off(&self) -> bool {
        self.is_broken_off.load(Relaxed)
    }

    pub(crate) fn first_write(&self) -> Option<u64> {
        happened(&self.first_write)
    }

    pub(crate) fn last_write(&self) -> Option<u64> {
        happened(&self.last_write)
    }

    /// When the first bytes came in, or the first after the last interim response. HTTP/1 only.
    pub(crate) fn first_read(&self) -> Option<u64> {
        happened(&self.first_read)
    }

    pub(crate) fn first_interim(&self) -> Option<u64> {
        happened(&self.first_interim)
    }

    pub(crate) fn first_body_byte(&self) -> Option<u64> {
        happened(&self.first_body_byte)
    }

    pub(crate) fn last_byte(&self) -> Option<u64> {
        happened(&self.last_byte)
    }

    pub(crate) fn wire(&self) -> Option<WireBytes> {
        self.wire.get().copied()
    }

    pub(crate) fn body_bytes(&self) -> u64 {
        self.body_bytes.load(Relaxed)
    }
}

/// The value of a stamp that has happened.
pub(crate) fn happened(stamp: &AtomicU64) -> Option<u64> {
    Some(stamp.load(Relaxed)).filter(|&at| at > 0)
}

fn set_once(stamp: &AtomicU64, at: u64) {
    let _ = stamp.compare_exchange(0, at, Relaxed, Relaxed);
}
