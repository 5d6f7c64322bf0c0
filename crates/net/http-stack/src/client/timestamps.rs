//! The time stamps of one request and its response.

use std::sync::{
    OnceLock,
    atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};

use super::byte_counter::{ByteCounter, Mark, WireBytes};

/// Stamps of one exchange in nanoseconds of the client's clock; 0 means "not yet".
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
    mark: OnceLock<Mark>,
    wire: OnceLock<WireBytes>,
}

impl Stamps {
    /// `from` is when the write began, `last` when the kernel accepted the last byte.
    pub(crate) fn wrote(&self, from: u64, last: u64) {
        self.began(from);
        self.last_write.store(last.max(from), Relaxed);
    }

    pub(crate) fn began(&self, at: u64) {
        set_once(&self.first_write, at);
    }

    pub(crate) fn flushed(&self, at: u64) {
        self.last_write.store(at, Relaxed);
    }

    /// The earlier attempt does not count.
    pub(crate) fn sent_again(&self, at: u64) {
        self.first_write.store(at, Relaxed);
        self.last_write.store(at, Relaxed);
    }

    pub(crate) fn read(&self, at: u64) {
        set_once(&self.first_read, at);
    }

    /// The next byte may be the first of the final response.
    pub(crate) fn interim(&self) {
        if let Some(first) = self.first_read() {
            set_once(&self.first_interim, first);
        }
        self.first_read.store(0, Relaxed);
    }

    pub(crate) fn interim_at(&self, at: u64) {
        set_once(&self.first_interim, at);
    }

    pub(crate) fn received(&self, bytes: u64, at: u64) {
        set_once(&self.first_body_byte, at);
        self.body_bytes.fetch_add(bytes, Relaxed);
    }

    pub(crate) fn mark(&self, mark: Option<Mark>) {
        if let Some(mark) = mark {
            let _ = self.mark.set(mark);
        }
    }

    pub(crate) fn ended(&self, at: u64, wire: &ByteCounter) {
        set_once(&self.last_byte, at);
        if let Some(bytes) = self.mark.get().and_then(|mark| wire.since(*mark)) {
            let _ = self.wire.set(bytes);
        }
    }

    pub(crate) fn set_sent(&self) {
        self.is_sent.store(true, Relaxed);
    }

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

pub(crate) fn happened(stamp: &AtomicU64) -> Option<u64> {
    Some(stamp.load(Relaxed)).filter(|&at| at > 0)
}

fn set_once(stamp: &AtomicU64, at: u64) {
    let _ = stamp.compare_exchange(0, at, Relaxed, Relaxed);
}
