//! Fork, inherited state, and supervision of a process that is not our child.

#![expect(unsafe_code, reason = "fork, signal dispositions, close_range and pidfds have no safe wrapper")]

use std::{
    io,
    os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd},
};

use nix::{
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::signal::{SigHandler, Signal, signal},
    unistd::{ForkResult, Pid},
};

/// # Panics
/// If the process has several threads: the child would inherit locks that are never released.
pub(crate) fn fork() -> io::Result<ForkResult> {
    let threads = std::fs::read_dir("/proc/self/task").map_or(1, Iterator::count);
    assert_eq!(threads, 1, "fork is called before any thread is started");
    // SAFETY: with a single thread, the child is a complete copy of the parent and has no restrictions.
    unsafe { nix::unistd::fork() }.map_err(Into::into)
}

/// The kernel then reaps children automatically.
pub(crate) fn ignore_children() -> io::Result<()> {
    // SAFETY: no handler is installed, so there is no code that a signal could run.
    unsafe { signal(Signal::SIGCHLD, SigHandler::SigIgn) }.map(drop).map_err(Into::into)
}

/// A pidfd cannot refer to a new process with the same number.
pub(crate) fn kill(process: &OwnedFd) -> io::Result<()> {
    let nothing: *const libc::siginfo_t = std::ptr::null();
    // SAFETY: the descriptor is open, and pidfd_send_signal takes null for no further information.
    let result =
        unsafe { libc::syscall(libc::SYS_pidfd_send_signal, process.as_raw_fd(), libc::SIGKILL, nothing, 0) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

pub(crate) fn is_alive(process: &OwnedFd) -> bool {
    let mut wanted = [PollFd::new(process.as_fd(), PollFlags::POLLIN)];
    poll(&mut wanted, PollTimeout::ZERO) == Ok(0)
}

pub(crate) fn close_others() -> io::Result<()> {
    // SAFETY: close_range takes numbers only; nothing in this process has opened a descriptor that it still
    // needs.
    let result = unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The Rust runtime ignores SIGPIPE before `main`.
pub(crate) fn end_by_broken_pipe() -> io::Result<()> {
    // SAFETY: no handler is installed, so there is no code that a signal could run.
    unsafe { signal(Signal::SIGPIPE, SigHandler::SigDfl) }.map(drop).map_err(Into::into)
}

pub(crate) fn pidfd(pid: Pid) -> io::Result<OwnedFd> {
    // SAFETY: pidfd_open takes a number and flags, and returns a new descriptor without another owner, or -1.
    let result = unsafe { libc::syscall(libc::SYS_pidfd_open, pid.as_raw(), 0) };
    match i32::try_from(result) {
        // SAFETY: the descriptor was just created, is not negative, and has no other owner.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(io::Error::last_os_error()),
    }
}
