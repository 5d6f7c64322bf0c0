//! Waiting to the microsecond inside a tokio runtime.
//!
//! tokio's own timer counts whole milliseconds, which is as long as a request in the same data centre takes.
//! A timerfd is a high-resolution timer of the kernel, not subject to timer slack, and wakes the runtime as a
//! socket would: no second thread, no hand-over.

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

/// A timer for one sleeper at a time.
pub struct Timer {
    fd: AsyncFd<sys::TimerDescriptor>,
}

impl Timer {
    /// A timer of the runtime that this is called in.
    ///
    /// # Errors
    /// When the process is out of file descriptors.
    pub fn new() -> io::Result<Self> {
        let fd = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)?;
        Ok(Self { fd: sys::watch(fd)? })
    }

    /// Returns when `duration` has passed. May be dropped half-way; the next call starts afresh.
    ///
    /// # Errors
    /// When the kernel refuses the timer, which it has no reason to.
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
                // Left over from a sleep that was dropped: setting the timer took its expiration back.
                Err(Errno::EAGAIN) => guard.clear_ready(),
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}
