//! The clock of the runner, and of programs that run many scenarios. No other module of this crate
//! reads a clock.

#![expect(
    clippy::disallowed_methods,
    reason = "this is the one place of this shell that reads clocks and waits"
)]

use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};

/// A stopwatch.
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

pub(crate) fn monotonic() -> Duration {
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(Duration::ZERO, Duration::from)
}

/// Waits between two polls of programs, probes and the user's Ctrl-C.
pub fn pause() {
    std::thread::sleep(Duration::from_millis(20));
}
