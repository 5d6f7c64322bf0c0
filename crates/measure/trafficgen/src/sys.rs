//! System calls that no safe library wraps. Contains all unsafe code of the crate.

use std::{
    io,
    os::fd::{AsFd, AsRawFd},
};

/// Bytes written, sent or unsent, that the peer has not acknowledged.
pub(crate) fn unacknowledged(socket: impl AsFd) -> io::Result<u64> {
    let mut bytes: libc::c_int = 0;
    let socket = socket.as_fd().as_raw_fd();
    // SAFETY: the descriptor is borrowed, and SIOCOUTQ (alias TIOCOUTQ) writes one int through its argument.
    #[expect(unsafe_code, reason = "no safe library wraps this request")]
    let result = unsafe { libc::ioctl(socket, libc::TIOCOUTQ, &raw mut bytes) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(u64::try_from(bytes).unwrap_or(0)) }
}

/// `TCP_WINDOW_CLAMP`; accepted connections inherit it.
pub(crate) fn limit_window(socket: impl AsFd, most: libc::c_int) -> io::Result<()> {
    set_bytes(socket, (libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP), &most.to_ne_bytes())
}

/// `SO_MAX_PACING_RATE`. Linux before 4.20 reads only the first 4 bytes.
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
