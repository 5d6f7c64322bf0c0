//! Who is told of interim responses.

use std::{fmt, sync::Arc};

use hyper::{HeaderMap, StatusCode};

/// Is told of each interim response (1xx) to a request among whose extensions it is. It must not block.
#[derive(Clone)]
pub struct Informed(Arc<Tell>);

type Tell = dyn Fn(StatusCode, &HeaderMap) + Send + Sync;

impl Informed {
    /// Has this called.
    pub fn new(tell: impl Fn(StatusCode, &HeaderMap) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    /// Tells of one.
    pub(super) fn tell(&self, status: StatusCode, headers: &HeaderMap) {
        (self.0)(status, headers);
    }
}

impl fmt::Debug for Informed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Informed")
    }
}
