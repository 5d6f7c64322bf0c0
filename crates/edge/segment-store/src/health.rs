//! Tracks write failures and delays retries, so that a failing disk costs the cache little.

use std::time::{Duration, Instant};

use crate::{Error, clock};

/// Whether writes succeed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// The last attempt succeeded.
    Working,
    /// Writes fail. Existing objects can still be read.
    Failing {
        /// The time since the first failure.
        lasting: Duration,
        /// The number of failures.
        failures: u32,
        /// The last failure.
        last: String,
    },
    /// The directory was released to another process: see
    /// [`Store::release`](crate::Store::release).
    Released,
}

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
    pub(crate) fn new(pause: Duration) -> Self {
        Self { pause, failing: None, is_released: false }
    }

    /// Fails during a pause, and after the release.
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

    pub(crate) fn worked(&mut self) {
        self.failing = None;
    }

    pub(crate) fn failed(&mut self, error: &Error) {
        let now = clock::now();
        let (since, failures) = self
            .failing
            .as_ref()
            .map_or((now, 1), |before| (before.since, before.failures.saturating_add(1)));
        let pause = self.pause.saturating_mul(1 << (failures - 1).min(16)).min(LONGEST_PAUSE);
        self.failing = Some(Failing { since, until: now + pause, failures, last: error.in_full() });
    }

    pub(crate) fn release(&mut self) {
        self.is_released = true;
    }

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

const LONGEST_PAUSE: Duration = Duration::from_secs(60);
