//! What a program chose for a socket, which the list of sockets does not tell: read from the socket itself.
//!
//! A copy of the program's descriptor is made (`pidfd_getfd(2)`, Linux 5.6), asked, and closed. That is allowed to whoever may
//! trace the process: its user, or root.

use crate::{Process, sys::foreign::Foreign};

/// What a program chose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Chosen {
    /// `SO_RCVBUF` was set: the buffer does not grow.
    pub has_fixed_receive_buffer: bool,
    /// `SO_SNDBUF` was set, likewise.
    pub has_fixed_send_buffer: bool,
    /// `TCP_NODELAY` was set: small segments do not wait for acknowledgements (RFC 896).
    pub has_no_delay: bool,
}

impl Chosen {
    /// None if that is not allowed, or the kernel does not tell (`SO_BUF_LOCK`, Linux 5.14).
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
