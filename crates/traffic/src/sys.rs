//! The system calls of this crate that no safe library wraps. All unsafe code of the crate is here and below.

pub(crate) mod tcp;

use std::{
    io,
    os::fd::{AsFd, AsRawFd},
};

/// Sets the most that is sent, bytes per second (`SO_MAX_PACING_RATE`). Linux before 4.20 reads the first 4 bytes only.
pub(crate) fn set_pacing(socket: impl AsFd, bytes_per_second: u64) -> io::Result<()> {
    set_bytes(socket, (libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE), &bytes_per_second.to_ne_bytes())
}

fn set_bytes(socket: impl AsFd, (level, name): (i32, i32), value: &[u8]) -> io::Result<()> {
    let length = libc::socklen_t::try_from(value.len()).expect("a number has 4 or 8 bytes");
    let socket = socket.as_fd().as_raw_fd();
    // SAFETY: the descriptor is borrowed, and the kernel reads `length` bytes of a slice of that length.
    #[expect(unsafe_code, reason = "no library in use here wraps these options")]
    let result = unsafe { libc::setsockopt(socket, level, name, value.as_ptr().cast(), length) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
