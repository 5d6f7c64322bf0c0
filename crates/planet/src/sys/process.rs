//! Forking, leaving children alone, and waiting for a process that is not our child.

#![expect(unsafe_code, reason = "fork, signal dispositions and pidfd_open have no safe wrapper")]

use std::{
    io,
    os::fd::{FromRawFd, OwnedFd},
};

use nix::{
    sys::signal::{SigHandler, Signal, signal},
    unistd::{ForkResult, Pid},
};

/// Forks a process that has one thread.
///
/// # Panics
/// If it has more: the child would inherit locks that nobody releases.
pub(crate) fn fork() -> io::Result<ForkResult> {
    let threads = std::fs::read_dir("/proc/self/task").map_or(1, Iterator::count);
    assert_eq!(threads, 1, "fork is called before any thread is started");
    // SAFETY: with a single thread, the child is a whole copy of the parent and may do all that the parent may.
    unsafe { nix::unistd::fork() }.map_err(Into::into)
}

/// Lets the kernel bury children that nobody waits for.
pub(crate) fn ignore_children() -> io::Result<()> {
    // SAFETY: no handler is installed, so there is no code that a signal could run.
    unsafe { signal(Signal::SIGCHLD, SigHandler::SigIgn) }.map(drop).map_err(Into::into)
}

/// A descriptor that becomes readable when the process ends.
pub(crate) fn pidfd(pid: Pid) -> io::Result<OwnedFd> {
    // SAFETY: pidfd_open takes a number and flags, and returns a new descriptor that nobody else owns, or -1.
    let result = unsafe { libc::syscall(libc::SYS_pidfd_open, pid.as_raw(), 0) };
    match i32::try_from(result) {
        // SAFETY: just made, not negative, and owned by nobody else.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(io::Error::last_os_error()),
    }
}
