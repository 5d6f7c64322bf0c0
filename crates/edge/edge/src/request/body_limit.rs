//! The maximum size of a request's content.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use http_stack::{Body, body::Frames};

use crate::request::rejection::{CONTENT_TOO_LARGE, Rejection};

/// Remembers whether the content of a request without a length became too large.
#[derive(Debug, Default)]
pub(crate) struct BodyLimit(Option<Arc<AtomicBool>>);

impl BodyLimit {
    pub(crate) fn apply(body: Body, most: Option<u64>) -> Result<(Body, Self), Rejection> {
        let Some(most) = most else { return Ok((body, Self::default())) };
        let hint = body.size_hint();
        if hint.lower() > most {
            return Err(CONTENT_TOO_LARGE);
        }
        if hint.upper().is_some_and(|upper| upper <= most) {
            return Ok((body, Self::default()));
        }
        let is_exceeded = Arc::new(AtomicBool::new(false));
        Ok((body.limited(most, Arc::clone(&is_exceeded)), Self(Some(is_exceeded))))
    }

    pub(crate) fn is_exceeded(&self) -> bool {
        self.0.as_ref().is_some_and(|is_exceeded| is_exceeded.load(Relaxed))
    }
}
