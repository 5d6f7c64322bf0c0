//! A body of which somebody wants to know how long its pieces are, and not what is in them: so nobody has to copy them.

use std::sync::{
    Arc, LazyLock,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use bytes::Bytes;

/// What the reader of a body and the connection on which it comes have in common. The connection looks at it before each piece.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counted(Arc<AtomicBool>);

impl Counted {
    /// From here on only lengths count.
    pub(crate) fn begin(&self) {
        self.0.store(true, Relaxed);
    }

    /// Whether only lengths count.
    pub(crate) fn has_begun(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// So many bytes, [`MOST`] at most, in the place of those that nobody copied.
pub(crate) fn stand_in(length: usize) -> Bytes {
    STAND_IN.slice(..length.min(MOST))
}

/// How much is thrown away at once: some tenth of a millisecond of 10 Gbit/s, after which others have their turn.
pub(crate) const MOST: usize = 256 * 1024;

/// Pages that nobody writes to, and so none.
static STAND_IN: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(vec![0; MOST]));
