//! A connection that carries any number of requests at once, whichever protocol it speaks.

use std::sync::Arc;

use super::{http2::Http2, http3::Http3, life::Life};

/// A connection that carries any number of requests. Clones share it.
#[derive(Clone)]
pub(crate) enum Shared {
    Http2(Http2),
    Http3(Http3),
}

impl Shared {
    pub(crate) fn life(&self) -> &Arc<Life> {
        match self {
            Self::Http2(connection) => connection.life(),
            Self::Http3(connection) => connection.life(),
        }
    }

    /// Whether both are the same connection.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(self.life(), other.life())
    }

    /// How many requests wait here because the server allows no more streams; `None` if one more would not have to.
    pub(crate) fn queue(&self) -> Option<usize> {
        match self {
            Self::Http2(connection) => connection.queue(),
            Self::Http3(connection) => connection.queue(),
        }
    }
}
