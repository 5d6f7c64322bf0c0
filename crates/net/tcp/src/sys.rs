//! The system calls of this crate without a safe wrapper. All unsafe code of the crate is here and below.

pub(crate) mod foreign;

use std::{
    fs::File,
    io,
    os::fd::{AsFd, AsRawFd},
};

pub(crate) fn page_bytes() -> u64 {
    // SAFETY: no pointers, and the name is defined on every Linux.
    #[expect(unsafe_code, reason = "no library in use here wraps it")]
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(bytes).unwrap_or(4096)
}

/// False if it is already locked.
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

pub(crate) fn tcp_info(socket: impl AsFd) -> io::Result<Vec<u8>> {
    let mut info = vec![0; LARGEST_INFO];
    let length = option(socket, (libc::IPPROTO_TCP, libc::TCP_INFO), &mut info)?;
    info.truncate(length);
    Ok(info)
}

/// A `struct mptcp_subflow_data` of linux/mptcp.h, and after it the `struct tcp_info` of each subflow, at
/// most [`SUBFLOWS`]. Fails without MPTCP, for example after a fallback to TCP.
pub(crate) fn subflow_infos(socket: impl AsFd) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; SUBFLOW_DATA + SUBFLOWS * LARGEST_INFO];
    let size = |of: usize| u32::try_from(of).expect("both are below 1000").to_ne_bytes();
    bytes[0..4].copy_from_slice(&size(SUBFLOW_DATA));
    bytes[12..16].copy_from_slice(&size(LARGEST_INFO));
    option(socket, (SOL_MPTCP, MPTCP_TCPINFO), &mut bytes)?;
    Ok(bytes)
}

pub(crate) fn memory(socket: impl AsFd) -> io::Result<Vec<u8>> {
    let mut numbers = vec![0; LARGEST_MEMORY];
    let length = option(socket, (libc::SOL_SOCKET, libc::SO_MEMINFO), &mut numbers)?;
    numbers.truncate(length);
    Ok(numbers)
}

fn option(socket: impl AsFd, (level, name): (i32, i32), bytes: &mut [u8]) -> io::Result<usize> {
    let mut length = libc::socklen_t::try_from(bytes.len()).unwrap_or(libc::socklen_t::MAX);
    let socket = socket.as_fd().as_raw_fd();
    // SAFETY: the descriptor is borrowed, and the kernel writes at most `length` bytes into a buffer of that
    // length.
    #[expect(unsafe_code, reason = "no library in use here has the whole of these structures")]
    let result = unsafe { libc::getsockopt(socket, level, name, bytes.as_mut_ptr().cast(), &raw mut length) };
    if result == 0 { Ok(length as usize) } else { Err(io::Error::last_os_error()) }
}

/// Twice the size in the newest kernel, for future versions.
const LARGEST_INFO: usize = 560;

/// Almost twice the 9 numbers of linux/sock_diag.h (`SK_MEMINFO_VARS`).
const LARGEST_MEMORY: usize = 64;

/// linux/socket.h and linux/mptcp.h.
const SOL_MPTCP: i32 = 284;
const MPTCP_TCPINFO: i32 = 2;
pub(crate) const SUBFLOW_DATA: usize = 16;
/// The kernel allows 8 further subflows.
const SUBFLOWS: usize = 9;
