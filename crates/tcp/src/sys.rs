//! The system calls of this crate that no safe library wraps. All unsafe code of the crate is here and below.

pub(crate) mod foreign;

use std::{
    fs::File,
    io,
    os::fd::{AsFd, AsRawFd},
};

/// Bytes in a page of memory.
pub(crate) fn page_bytes() -> u64 {
    // SAFETY: no pointers, and the name is one that every Linux knows.
    #[expect(unsafe_code, reason = "no library in use here wraps it")]
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(bytes).unwrap_or(4096)
}

/// Locks a file as long as it is open (flock(2)). False if somebody else has locked it.
pub(crate) fn try_lock(file: &File) -> io::Result<bool> {
    // SAFETY: no pointers, and the descriptor is open as long as `file` is borrowed.
    #[expect(
        unsafe_code,
        reason = "the standard library has it since Rust 1.89, later than what we build with"
    )]
    let result = unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) };
    match (result, io::Error::last_os_error()) {
        (0, _) => Ok(true),
        (_, error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        (_, error) => Err(error),
    }
}

/// A socket's `struct tcp_info`, as much of it as the kernel has.
pub(crate) fn tcp_info(socket: impl AsFd) -> io::Result<Vec<u8>> {
    let mut info = vec![0_u8; LARGEST_INFO];
    let mut length = libc::socklen_t::try_from(info.len()).expect("a small constant");
    let socket = socket.as_fd().as_raw_fd();
    // SAFETY: the descriptor is borrowed, and the kernel writes at most `length` bytes into a buffer of that length.
    #[expect(unsafe_code, reason = "no library in use here has the whole of the structure")]
    let result = unsafe {
        libc::getsockopt(socket, libc::IPPROTO_TCP, libc::TCP_INFO, info.as_mut_ptr().cast(), &raw mut length)
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    info.truncate(length as usize);
    Ok(info)
}

/// Twice what the newest kernel has, for those to come.
const LARGEST_INFO: usize = 560;
