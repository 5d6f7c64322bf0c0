//! Socket options set by a program that the socket list lacks, read from the socket itself.
//!
//! Duplicates the program's descriptor (`pidfd_getfd(2)`, Linux 5.6), reads the options, and closes it. This
//! is permitted to users who may trace the process: its owner, or root.

use crate::{Process, sys::foreign::Foreign};

/// The socket options set by a program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Chosen {
    /// `SO_RCVBUF` was set: the buffer does not grow.
    pub has_fixed_receive_buffer: bool,
    /// `SO_SNDBUF` was set: the buffer does not grow.
    pub has_fixed_send_buffer: bool,
    /// `TCP_NODELAY` was set: small segments do not wait for acknowledgements (RFC 896).
    pub has_no_delay: bool,
}

impl Chosen {
    /// `None` if the access is denied or unsupported (`SO_BUF_LOCK`, Linux 5.14).
    pub(super) fn read(process: &Process, inode: u64) -> Option<Self> {
        let socket = Foreign::open(process.pid, process.descriptor, inode).ok()?;
        let locks = socket.buffer_locks().ok()?;
        Some(Self {
            has_fixed_receive_buffer: locks & SOCK_RCVBUF_LOCK != 0,
            has_fixed_send_buffer: locks & SOCK_SNDBUF_LOCK != 0,
            has_no_delay: socket.has_no_delay().ok()?,
        })
    }
}

// linux/socket.h
const SOCK_SNDBUF_LOCK: u32 = 1;
const SOCK_RCVBUF_LOCK: u32 = 2;
