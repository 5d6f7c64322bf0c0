//! Waits for devices or a deadline with nanosecond resolution.

#![expect(unsafe_code, reason = "epoll_pwait2 has no safe wrapper")]

use std::{io, os::fd::AsRawFd, time::Duration};

use nix::sys::epoll::{Epoll, EpollEvent};

pub(crate) fn wait(epoll: &Epoll, events: &mut [EpollEvent], timeout: Option<Duration>) -> io::Result<usize> {
    let timeout = timeout.map(|timeout| libc::timespec {
        tv_sec: timeout.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: libc::c_long::from(timeout.subsec_nanos().cast_signed()),
    });
    let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let room = libc::c_int::try_from(events.len()).unwrap_or(libc::c_int::MAX);
    let events = events.as_mut_ptr();
    let no_mask: *const libc::sigset_t = std::ptr::null();
    // Called by number, because musl has no function of this name.
    // SAFETY: EpollEvent is a transparent wrapper of epoll_event, `events` has room for `room` of them, and
    // `timeout` is null or points to a timespec that lives until the call returns; on the supported 64-bit
    // machines it is the kernel's. No signal mask is passed, so its size does not matter.
    let ready = unsafe {
        libc::syscall(libc::SYS_epoll_pwait2, epoll.0.as_raw_fd(), events, room, timeout, no_mask, 0_usize)
    };
    match usize::try_from(ready) {
        Ok(ready) => Ok(ready),
        Err(_) => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(0),
            error => Err(error),
        },
    }
}

/// With the default slack a timer may be 50 us late.
pub(crate) fn wake_on_time() -> io::Result<()> {
    nix::sys::prctl::set_timerslack(1).map_err(Into::into)
}
