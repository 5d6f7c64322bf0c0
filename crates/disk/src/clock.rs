//! The one place that reads a clock.

use std::time::Instant;

/// The time now.
#[expect(clippy::disallowed_methods, reason = "a shell's clock module")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
