//! What this crate asks of the operating system itself.

use std::{
    io,
    os::fd::{AsFd, AsRawFd, RawFd},
    time::Duration,
};

use nix::sys::{
    resource::{Resource, UsageWho, getrlimit, getrusage, setrlimit},
    timerfd::TimerFd,
};
use tokio::io::{Interest, unix::AsyncFd};

/// Raises this process's limit of open files as far as it may without privileges, and returns it.
///
/// Shells start programs with a soft limit of 1024 for the sake of `select`, which nothing here uses.
pub(crate) fn open_files() -> usize {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return 1024 };
    let now = if setrlimit(Resource::RLIMIT_NOFILE, hard, hard).is_ok() { hard } else { soft };
    usize::try_from(now).unwrap_or(usize::MAX)
}

/// Processor time that the calling thread has used so far.
pub(crate) fn thread_cpu() -> Duration {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_THREAD) else { return Duration::ZERO };
    let micros = [usage.user_time(), usage.system_time()]
        .map(|time| time.tv_sec().saturating_mul(1_000_000).saturating_add(time.tv_usec()))
        .into_iter()
        .sum::<i64>();
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}

/// This machine's name, if it has one that is text.
pub(crate) fn host_name() -> Option<String> {
    nix::unistd::gethostname().ok()?.into_string().ok()
}

/// A timer that says which descriptor it is, as tokio wants it.
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
