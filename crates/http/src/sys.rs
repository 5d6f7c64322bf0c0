//! What this crate asks of the operating system itself.

use std::{
    io,
    os::fd::{AsFd, AsRawFd, RawFd},
};

use nix::sys::{
    resource::{Resource, getrlimit, setrlimit},
    timerfd::TimerFd,
};
use tokio::io::{Interest, unix::AsyncFd};

/// Raises this process's limit of open files as far as it may without privileges, and returns it.
///
/// Shells start programs with a soft limit of 1024 for the sake of `select`, which nothing here uses.
pub fn open_files() -> usize {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return 1024 };
    let now = if setrlimit(Resource::RLIMIT_NOFILE, hard, hard).is_ok() { hard } else { soft };
    usize::try_from(now).unwrap_or(usize::MAX)
}

/// A timer whose descriptor tokio can ask for.
pub(crate) struct TimerDescriptor(pub(crate) TimerFd);

impl AsRawFd for TimerDescriptor {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_fd().as_raw_fd()
    }
}

/// Lets the runtime that this is called in watch a timer.
#[expect(unsafe_code, reason = "tokio cannot see for itself that a descriptor stays open")]
pub(crate) fn watch(timer: TimerFd) -> io::Result<AsyncFd<TimerDescriptor>> {
    // SAFETY: the TimerFd owns a valid descriptor, and neither closes nor replaces it while the AsyncFd owns
    // it.
    let watched = unsafe { AsyncFd::register_with_interest(TimerDescriptor(timer), Interest::READABLE) };
    watched.map_err(io::Error::from)
}
