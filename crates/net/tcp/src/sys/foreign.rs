//! Access to another process's socket through a duplicate of its descriptor.

use std::{
    io,
    mem::{MaybeUninit, size_of},
    os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd},
};

#[derive(Debug)]
pub(crate) struct Foreign(OwnedFd);

impl Foreign {
    /// Fails if access to the process is denied, or if the descriptor no longer refers to the socket with
    /// this inode.
    pub(crate) fn open(pid: u32, descriptor: RawFd, inode: u64) -> io::Result<Self> {
        let socket = copy(pid, descriptor)?;
        if self::inode(&socket)? != inode {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(Self(socket))
    }

    pub(crate) fn buffer_locks(&self) -> io::Result<u32> {
        option(&self.0, libc::SOL_SOCKET, SO_BUF_LOCK)
    }

    pub(crate) fn has_no_delay(&self) -> io::Result<bool> {
        option(&self.0, libc::IPPROTO_TCP, libc::TCP_NODELAY).map(|value| value != 0)
    }
}

fn option(socket: &OwnedFd, level: libc::c_int, name: libc::c_int) -> io::Result<u32> {
    let mut value = 0_u32;
    let mut size = libc::socklen_t::try_from(size_of::<u32>()).expect("4 fits");
    // SAFETY: the descriptor is open, and both pointers are to variables of the specified sizes.
    #[expect(unsafe_code, reason = "no library in use here wraps it")]
    let result =
        unsafe { libc::getsockopt(socket.as_raw_fd(), level, name, (&raw mut value).cast(), &raw mut size) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(value) }
}

fn copy(pid: u32, descriptor: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: no pointers.
    #[expect(unsafe_code, reason = "no library in use here wraps it")]
    let process = owned(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) })?;
    // SAFETY: no pointers.
    #[expect(unsafe_code, reason = "no library in use here wraps it")]
    owned(unsafe { libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), descriptor, 0) })
}

fn owned(result: libc::c_long) -> io::Result<OwnedFd> {
    let descriptor = RawFd::try_from(result).ok().filter(|number| *number >= 0);
    let descriptor = descriptor.ok_or_else(io::Error::last_os_error)?;
    // SAFETY: the kernel has just created it for this process.
    #[expect(unsafe_code, reason = "no library in use here wraps it")]
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

fn inode(file: &OwnedFd) -> io::Result<u64> {
    let mut status = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the descriptor is open, and the buffer has the size of the structure.
    #[expect(unsafe_code, reason = "no library in use here wraps it")]
    let result = unsafe { libc::fstat(file.as_raw_fd(), status.as_mut_ptr()) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so the kernel has filled the buffer.
    #[expect(unsafe_code, reason = "no library in use here wraps it")]
    Ok(unsafe { status.assume_init() }.st_ino)
}

/// asm-generic/socket.h; Linux 5.14.
const SO_BUF_LOCK: libc::c_int = 72;
