//! The time limit for writes during shutdown and handover: the queue only contains cache data, so
//! neither has to wait for all of it.

use std::{sync::OnceLock, time::Duration};

use http_stack::clock::{Clock, nanos};

pub(super) struct ShutdownDeadline {
    clock: Clock,
    /// In ns.
    at: OnceLock<u64>,
}

impl Default for ShutdownDeadline {
    fn default() -> Self {
        Self { clock: Clock::start(), at: OnceLock::new() }
    }
}

impl ShutdownDeadline {
    pub(super) fn begin(&self) {
        let _ = self.at.set(self.clock.now() + nanos(SHUTDOWN_TIMEOUT));
    }

    pub(super) fn has_passed(&self) -> bool {
        self.at.get().is_some_and(|end| self.clock.now() >= *end)
    }
}

/// A disk that writes 16 MB/s can write the full queue in this time.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);
