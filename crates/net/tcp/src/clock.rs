//! The only module of this crate, and of `traffic`, that reads a clock or sleeps.

use std::time::{Duration, Instant};

/// A monotonic clock that starts with a measurement. Copies agree.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    origin: Instant,
}

impl Clock {
    /// A clock that starts now.
    #[expect(clippy::disallowed_methods, reason = "a shell's clock module")]
    pub fn start() -> Self {
        Self { origin: Instant::now() }
    }

    /// Time since the start.
    pub fn now(self) -> Duration {
        self.origin.elapsed()
    }

    /// Sleeps until this time; returns immediately if it has passed.
    #[expect(clippy::disallowed_methods, reason = "keeping a schedule is what this module is for")]
    pub fn wait_until(self, then: Duration) {
        std::thread::sleep(then.saturating_sub(self.now()));
    }
}
