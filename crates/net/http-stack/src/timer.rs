//! A timer with microsecond precision for tokio.
//!
//! tokio's timer has a resolution of 1 ms, as long as a request within a data centre takes.

use std::{io, time::Duration};

use nix::{
    errno::Errno,
    sys::{
        time::TimeSpec,
        timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags},
    },
};
use tokio::io::unix::AsyncFd;

use crate::sys;

/// A timer for one task at a time.
pub struct Timer {
    fd: AsyncFd<sys::TimerDescriptor>,
}

impl Timer {
    /// Creates a timer in the current runtime.
    ///
    /// # Errors
    /// The process is out of file descriptors.
    pub fn new() -> io::Result<Self> {
        let fd = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)?;
        Ok(Self { fd: sys::watch(fd)? })
    }

    /// Returns when `duration` has passed. Cancel safe: the next call starts a new wait.
    ///
    /// # Errors
    /// The kernel rejects the timer, which is not expected.
    pub async fn sleep(&mut self, duration: Duration) -> io::Result<()> {
        // A zero would disarm the timer instead of firing it.
        if duration.is_zero() {
            return Ok(());
        }
        let expiration = Expiration::OneShot(TimeSpec::from_duration(duration));
        self.fd.get_ref().0.set(expiration, TimerSetTimeFlags::empty())?;
        loop {
            let mut guard = self.fd.readable().await?;
            match self.fd.get_ref().0.wait() {
                Ok(()) => return Ok(()),
                // A readiness event of an earlier, dropped sleep: setting the timer cleared its
                // expiration.
                Err(Errno::EAGAIN) => guard.clear_ready(),
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}
