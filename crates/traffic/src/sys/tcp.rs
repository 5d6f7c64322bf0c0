//! What the kernel tells of a TCP or MPTCP connection and no safe library asks for.

use std::{
    io,
    os::fd::{AsRawFd, BorrowedFd},
};

/// What is known of one TCP connection, or of one subflow of MPTCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Info {
    /// Segments sent again since the beginning.
    pub(crate) retransmits: u32,
    /// The least round-trip time, microseconds. Absent while none was measured.
    pub(crate) rtt_min_us: Option<u32>,
}

/// A TCP connection's state; of MPTCP, the first subflow's.
pub(crate) fn info(socket: BorrowedFd<'_>) -> io::Result<Info> {
    let mut bytes = [0; TCP_INFO];
    option(socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut bytes)?;
    Ok(Info::of(&bytes))
}

/// The state of each subflow of MPTCP, at most [`SUBFLOWS`]. Fails where there is no MPTCP, as after a fallback to TCP.
pub(crate) fn subflows(socket: BorrowedFd<'_>) -> io::Result<Vec<Info>> {
    // struct mptcp_subflow_data of linux/mptcp.h: its own size, the number of subflows (out), the size of a tcp_info to
    // the kernel (out) and to us. As many of those follow.
    let mut bytes = vec![0; SUBFLOW_DATA + SUBFLOWS * TCP_INFO];
    let size = |of: usize| u32::try_from(of).expect("both are below 200").to_ne_bytes();
    bytes[0..4].copy_from_slice(&size(SUBFLOW_DATA));
    bytes[12..16].copy_from_slice(&size(TCP_INFO));
    option(socket, SOL_MPTCP, MPTCP_TCPINFO, &mut bytes)?;
    let number = usize::try_from(word(&bytes, 4)).unwrap_or(SUBFLOWS);
    let (_, infos) = bytes.split_at(SUBFLOW_DATA);
    Ok(infos.chunks_exact(TCP_INFO).take(number).map(Info::of).collect())
}

/// Bytes that were written and that the other end has not acknowledged, sent or not.
pub(crate) fn unacknowledged(socket: BorrowedFd<'_>) -> io::Result<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the descriptor is open, and SIOCOUTQ (alias TIOCOUTQ) writes one int through its argument.
    #[expect(unsafe_code, reason = "no safe library wraps this request")]
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(u64::try_from(bytes).unwrap_or(0)) }
}

/// Memory that the kernel holds for what was written and not acknowledged, with its own records of it; bytes.
pub(crate) fn memory(socket: BorrowedFd<'_>) -> io::Result<u32> {
    let mut bytes = [0; 4 * (WMEM_QUEUED + 1)];
    option(socket, libc::SOL_SOCKET, libc::SO_MEMINFO, &mut bytes)?;
    Ok(word(&bytes, 4 * WMEM_QUEUED))
}

/// Limits the window that this socket announces, and those of the connections that it accepts.
pub(crate) fn limit_window(socket: BorrowedFd<'_>, most: libc::c_int) -> io::Result<()> {
    let size = libc::socklen_t::try_from(size_of_val(&most)).expect("an int has 4 bytes");
    // SAFETY: the descriptor is open, and the kernel reads one int behind the pointer.
    #[expect(unsafe_code, reason = "no safe library wraps this option")]
    let result = unsafe {
        let most = (&raw const most).cast();
        libc::setsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, most, size)
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

impl Info {
    /// From the beginning of a struct tcp_info of linux/tcp.h.
    fn of(bytes: &[u8]) -> Self {
        Self {
            retransmits: word(bytes, TOTAL_RETRANS),
            // The kernel's mark of none, and what a kernel without the field leaves.
            rtt_min_us: Some(word(bytes, MIN_RTT)).filter(|&rtt| rtt != u32::MAX && rtt != 0),
        }
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |word| u32::from_ne_bytes(*word))
}

/// Reads an option into `bytes`; what the kernel does not have of it stays as it is.
fn option(socket: BorrowedFd<'_>, level: i32, name: i32, bytes: &mut [u8]) -> io::Result<()> {
    let mut length = libc::socklen_t::try_from(bytes.len()).unwrap_or(libc::socklen_t::MAX);
    // SAFETY: the descriptor is open, and the kernel writes at most `length` bytes behind the pointer, which are ours.
    #[expect(unsafe_code, reason = "no safe library wraps these options")]
    let result = unsafe {
        libc::getsockopt(socket.as_raw_fd(), level, name, bytes.as_mut_ptr().cast(), &raw mut length)
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Of linux/socket.h and linux/mptcp.h.
const SOL_MPTCP: i32 = 284;
const MPTCP_TCPINFO: i32 = 2;
const SUBFLOW_DATA: usize = 16;
/// The kernel allows 8 further subflows.
const SUBFLOWS: usize = 9;
/// Where the numbers of SO_MEMINFO have sk_wmem_queued (linux/sock_diag.h).
const WMEM_QUEUED: usize = 5;
/// Enough of a tcp_info for all that is read here.
const TCP_INFO: usize = 160;
/// Where tcp_info has tcpi_total_retrans and tcpi_min_rtt.
const TOTAL_RETRANS: usize = 100;
const MIN_RTT: usize = 148;
