//! How long a disk may take at the end: what waits then is of a cache, and whoever stops a program or takes its place does not wait for that.

use std::{sync::OnceLock, time::Duration};

use http::clock::{Clock, nanos};

/// The end of a disk's writing, which may not have begun.
pub(super) struct Ending {
    clock: Clock,
    /// When there is no more time, ns.
    at: OnceLock<u64>,
}

impl Default for Ending {
    fn default() -> Self {
        Self { clock: Clock::start(), at: OnceLock::new() }
    }
}

impl Ending {
    /// From now on there is so much time.
    pub(super) fn begin(&self) {
        let _ = self.at.set(self.clock.now() + nanos(LONGEST));
    }

    /// Whether that has passed.
    pub(super) fn is_over(&self) -> bool {
        self.at.get().is_some_and(|end| self.clock.now() >= *end)
    }
}

/// Enough for a disk that writes 16 MB a second to write all that may wait.
const LONGEST: Duration = Duration::from_secs(2);
