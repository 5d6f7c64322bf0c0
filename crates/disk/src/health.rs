//! Whether the disk can be written to, and when it is tried again: a disk that fails must cost a cache little.

use std::time::{Duration, Instant};

use crate::{Error, clock};

/// How writing goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// The last attempt succeeded.
    Working,
    /// Nothing has been written for this long; what is there is still found.
    Failing {
        /// Since the first of the failures.
        lasting: Duration,
        /// How many there were.
        failures: u32,
        /// The last one.
        last: String,
    },
    /// The directory was left to another process: see [`Store::release`](crate::Store::release).
    Released,
}

/// What is remembered of failures.
#[derive(Debug)]
pub(crate) struct Health {
    pause: Duration,
    failing: Option<Failing>,
    is_released: bool,
}

#[derive(Debug)]
struct Failing {
    since: Instant,
    until: Instant,
    failures: u32,
    last: String,
}

impl Health {
    /// Of a disk that has not failed yet.
    pub(crate) fn new(pause: Duration) -> Self {
        Self { pause, failing: None, is_released: false }
    }

    /// Whether to try now.
    pub(crate) fn may_try(&self) -> Result<(), Error> {
        if self.is_released {
            return Err(Error::Released);
        }
        let Some(failing) = &self.failing else { return Ok(()) };
        match failing.until.saturating_duration_since(clock::now()) {
            Duration::ZERO => Ok(()),
            wait => Err(Error::Paused { failures: failing.failures, wait, last: failing.last.clone() }),
        }
    }

    /// Notes that something was written.
    pub(crate) fn worked(&mut self) {
        self.failing = None;
    }

    /// Notes a failure.
    pub(crate) fn failed(&mut self, error: &Error) {
        let now = clock::now();
        let (since, failures) = self
            .failing
            .as_ref()
            .map_or((now, 1), |before| (before.since, before.failures.saturating_add(1)));
        let pause = self.pause.saturating_mul(1 << (failures - 1).min(16)).min(LONGEST_PAUSE);
        self.failing = Some(Failing { since, until: now + pause, failures, last: error.in_full() });
    }

    /// From now on it is another process that writes.
    pub(crate) fn release(&mut self) {
        self.is_released = true;
    }

    /// For who asks.
    pub(crate) fn state(&self) -> State {
        if self.is_released {
            return State::Released;
        }
        self.failing.as_ref().map_or(State::Working, |failing| State::Failing {
            lasting: clock::now().saturating_duration_since(failing.since),
            failures: failing.failures,
            last: failing.last.clone(),
        })
    }
}

/// However often it failed.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
