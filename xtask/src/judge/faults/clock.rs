//! Time since a run began, which all of its threads share.

use std::{
    thread,
    time::{Duration, Instant},
};

/// When a run began.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock(Instant);

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "a run has a time of its own")]
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }

    pub(super) fn now(self) -> Duration {
        self.0.elapsed()
    }

    /// In nanoseconds.
    pub(super) fn nanos(self) -> u64 {
        u64::try_from(self.now().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Waits for a time of the run.
    pub(super) fn wait_for(self, at: Duration) {
        pause(at.saturating_sub(self.now()));
    }
}

/// Waits so long.
#[expect(
    clippy::disallowed_methods,
    reason = "faults come at their times, and visitors pause between requests"
)]
pub(super) fn pause(so_long: Duration) {
    thread::sleep(so_long);
}
