//! The only module that reads the clock.

use std::time::Instant;

#[expect(clippy::disallowed_methods, reason = "a shell's clock module")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
