//! Waits for socket events with microsecond resolution.

use std::{io, os::fd::BorrowedFd, time::Duration};

use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, ppoll},
    sys::time::TimeSpec,
};
use tcp::Clock;

pub(crate) fn for_event(
    socket: BorrowedFd<'_>,
    event: PollFlags,
    clock: Clock,
    until: Duration,
) -> io::Result<bool> {
    let left = TimeSpec::from_duration(until.saturating_sub(clock.now()));
    match ppoll(&mut [PollFd::new(socket, event)], Some(left), None) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::EINTR) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

pub(crate) const CALL: Duration = Duration::from_millis(100);
