//! A callback for interim responses.

use std::{fmt, sync::Arc};

use hyper::{HeaderMap, StatusCode};

/// A callback for each interim response (1xx); attach it to a request as an extension. It must not
/// block.
#[derive(Clone)]
pub struct OnInterim(Arc<Tell>);

type Tell = dyn Fn(StatusCode, &HeaderMap) + Send + Sync;

impl OnInterim {
    /// Wraps a callback.
    pub fn new(tell: impl Fn(StatusCode, &HeaderMap) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    pub(super) fn tell(&self, status: StatusCode, headers: &HeaderMap) {
        (self.0)(status, headers);
    }
}

impl fmt::Debug for OnInterim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Informed")
    }
}
