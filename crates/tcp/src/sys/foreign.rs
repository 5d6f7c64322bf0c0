//! A look at another process's socket, through a copy of its descriptor.

use std::{
    io,
    mem::{MaybeUninit, size_of},
    os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd},
};

/// What another process's socket has been told.
#[derive(Debug)]
pub(crate) struct Foreign(OwnedFd);

impl Foreign {
    /// Fails if the process may not be looked into, or if the descriptor is not the socket with this inode any more.
    pub(crate) fn open(pid: u32, descriptor: RawFd, inode: u64) -> io::Result<Self> {
        let socket = copy(pid, descriptor)?;
        if self::inode(&socket)? != inode {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(Self(socket))
    }

    /// Which of its buffers its program has fixed (`SO_BUF_LOCK`).
    pub(crate) fn buffer_locks(&self) -> io::Result<u32> {
        option(&self.0, libc::SOL_SOCKET, SO_BUF_LOCK)
    }

    /// Whether its program wants small segments to leave at once (`TCP_NODELAY`).
    pub(crate) fn has_no_delay(&self) -> io::Result<bool> {
        option(&self.0, libc::IPPROTO_TCP, libc::TCP_NODELAY).map(|value| value != 0)
    }
}

/// A socket's option that is a number.
fn option(socket: &OwnedFd, level: libc::c_int, name: libc::c_int) -> io::Result<u32> {
    let mut value = 0_u32;
    let mut size = libc::socklen_t::try_from(size_of::<u32>()).expect("4 fits");
    // SAFETY: the descriptor is open, and both pointers are to variables of the sizes that they are said to have.
    #[expect(unsafe_code, reason = "no library in use here wraps it")]
    let result =
        unsafe { libc::getsockopt(socket.as_raw_fd(), level, name, (&raw mut value).cast(), &raw mut size) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(value) }
}

/// A copy of a process's descriptor.
fn copy(pid: u32, descriptor: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: no pointers.
    #[expect(unsafe_code, reason = "no library in use here wraps it")]
    let process = owned(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) })?;
    // SAFETY: no pointers.
    #[expect(unsafe_code, reason = "no library in use here wraps it")]
    owned(unsafe { libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), descriptor, 0) })
}

/// The descriptor that a system call made.
fn owned(result: libc::c_long) -> io::Result<OwnedFd> {
    let descriptor = RawFd::try_from(result).ok().filter(|number| *number >= 0);
    let descriptor = descriptor.ok_or_else(io::Error::last_os_error)?;
    // SAFETY: the kernel has just made it for us.
    #[expect(unsafe_code, reason = "no library in use here wraps it")]
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

fn inode(file: &OwnedFd) -> io::Result<u64> {
    let mut status = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the descriptor is open, and there is room for the answer.
    #[expect(unsafe_code, reason = "no library in use here wraps it")]
    let result = unsafe { libc::fstat(file.as_raw_fd(), status.as_mut_ptr()) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it succeeded, so the kernel has filled it.
    #[expect(unsafe_code, reason = "no library in use here wraps it")]
    Ok(unsafe { status.assume_init() }.st_ino)
}

/// asm-generic/socket.h; Linux 5.14.
const SO_BUF_LOCK: libc::c_int = 72;
