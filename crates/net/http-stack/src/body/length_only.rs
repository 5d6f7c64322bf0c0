//! Bodies of which the reader needs only the length: the connection does not copy the data.

use std::sync::{
    Arc, LazyLock,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use bytes::Bytes;

/// The connection reads it before each piece.
#[derive(Debug, Clone, Default)]
pub(crate) struct LengthOnly(Arc<AtomicBool>);

impl LengthOnly {
    pub(crate) fn begin(&self) {
        self.0.store(true, Relaxed);
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// `length` bytes, at most [`MOST`].
pub(crate) fn stand_in(length: usize) -> Bytes {
    STAND_IN.slice(..length.min(MOST))
}

/// The most bytes discarded per poll: about 0.2 ms at 10 Gbit/s, after which other tasks run.
pub(crate) const MOST: usize = 256 * 1024;

/// Pages that are never written, so they take no memory.
static STAND_IN: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(vec![0; MOST]));
