//! Waiting for devices or a moment, whichever comes first, to the nanosecond.

#![expect(unsafe_code, reason = "epoll_pwait2 has no safe wrapper")]

use std::{io, os::fd::AsRawFd, time::Duration};

use nix::sys::epoll::{Epoll, EpollEvent};

/// Waits until a descriptor is ready or `timeout` has passed (`None`: as long as it takes). Returns how many of `events`
/// were filled.
pub(crate) fn wait(epoll: &Epoll, events: &mut [EpollEvent], timeout: Option<Duration>) -> io::Result<usize> {
    let timeout = timeout.map(|timeout| libc::timespec {
        tv_sec: libc::time_t::try_from(timeout.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: libc::c_long::from(timeout.subsec_nanos().cast_signed()),
    });
    let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let room = libc::c_int::try_from(events.len()).unwrap_or(libc::c_int::MAX);
    // SAFETY: EpollEvent is a transparent wrapper of epoll_event, `events` has room for `room` of them, and `timeout` is
    // null or points to a timespec that lives until the call returns. No signal mask is passed.
    let ready = unsafe {
        libc::epoll_pwait2(epoll.0.as_raw_fd(), events.as_mut_ptr().cast(), room, timeout, std::ptr::null())
    };
    match usize::try_from(ready) {
        Ok(ready) => Ok(ready),
        Err(_) => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(0),
            error => Err(error),
        },
    }
}

/// Asks the kernel to wake this thread on time: the default slack lets a timer be 50 us late.
pub(crate) fn wake_on_time() -> io::Result<()> {
    nix::sys::prctl::set_timerslack(1).map_err(Into::into)
}
