//! The runner's clock, and that of whoever runs many scenarios. Nothing else in this crate asks what time it is.

#![expect(
    clippy::disallowed_methods,
    reason = "this is the one place of this shell that reads clocks and waits"
)]

use std::time::{Duration, Instant};

/// Counts from its making.
#[derive(Debug, Clone, Copy)]
pub struct Clock(Instant);

impl Clock {
    /// Starts at zero.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Time since the start.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// How long the runner looks away: programs, probes and the user's Ctrl-C are looked at between two pauses.
pub fn pause() {
    std::thread::sleep(Duration::from_millis(20));
}
