//! Time since the start of a run, shared by all of its threads.

use std::{
    thread,
    time::{Duration, Instant},
};

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

    pub(super) fn nanos(self) -> u64 {
        u64::try_from(self.now().as_nanos()).unwrap_or(u64::MAX)
    }

    pub(super) fn wait_for(self, at: Duration) {
        pause(at.saturating_sub(self.now()));
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "faults come at their times, and visitors pause between requests"
)]
pub(super) fn pause(so_long: Duration) {
    thread::sleep(so_long);
}
