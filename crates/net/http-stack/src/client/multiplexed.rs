//! A connection with concurrent requests, over HTTP/2 or HTTP/3.

use std::sync::Arc;

use super::{http2::Http2, http3::Http3, mux_state::MuxState};

#[derive(Clone)]
pub(crate) enum Multiplexed {
    Http2(Http2),
    Http3(Http3),
}

impl Multiplexed {
    pub(crate) fn life(&self) -> &Arc<MuxState> {
        match self {
            Self::Http2(connection) => connection.life(),
            Self::Http3(connection) => connection.life(),
        }
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(self.life(), other.life())
    }

    /// `None` if a new request would not have to wait.
    pub(crate) fn queue(&self) -> Option<usize> {
        match self {
            Self::Http2(connection) => connection.queue(),
            Self::Http3(connection) => connection.queue(),
        }
    }
}
