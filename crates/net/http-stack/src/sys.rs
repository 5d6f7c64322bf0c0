//! System calls of this crate.

use std::{
    io,
    mem::MaybeUninit,
    num::NonZeroUsize,
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd},
    ptr::{self, NonNull},
    slice,
};

use nix::{
    fcntl::{FallocateFlags, fallocate},
    sys::{
        memfd::{MFdFlags, memfd_create},
        mman::{MapFlags, ProtFlags, mmap},
        resource::{Resource, getrlimit, setrlimit},
        sendfile::sendfile,
        socket::{MsgFlags, send},
        timerfd::TimerFd,
        uio::{pread, pwrite},
    },
    unistd::ftruncate,
};
use tokio::io::{Interest, unix::AsyncFd};

/// Raises the process's limit of open files as far as possible without privileges, and returns it.
///
/// The default soft limit of 1024 exists for the sake of `select`, which is not used here.
pub fn open_files() -> usize {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return 1024 };
    let now = if setrlimit(Resource::RLIMIT_NOFILE, hard, hard).is_ok() { hard } else { soft };
    usize::try_from(now).unwrap_or(usize::MAX)
}

pub(crate) struct TimerDescriptor(pub(crate) TimerFd);

impl AsRawFd for TimerDescriptor {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_fd().as_raw_fd()
    }
}

#[expect(unsafe_code, reason = "tokio cannot see for itself that a descriptor stays open")]
pub(crate) fn watch(timer: TimerFd) -> io::Result<AsyncFd<TimerDescriptor>> {
    // SAFETY: the TimerFd owns a valid descriptor, and neither closes nor replaces it while the AsyncFd
    // owns it.
    let watched = unsafe { AsyncFd::register_with_interest(TimerDescriptor(timer), Interest::READABLE) };
    watched.map_err(io::Error::from)
}

pub(crate) fn memory_file(name: &str, length: u64) -> io::Result<OwnedFd> {
    let file = memfd_create(name, MFdFlags::MFD_CLOEXEC)?;
    ftruncate(&file, offset(length)?)?;
    Ok(file)
}

pub(crate) fn write_at(file: &OwnedFd, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = pwrite(file, bytes, offset(at)?)?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = &bytes[written..];
        at += written as u64;
    }
    Ok(())
}

pub(crate) fn read_at(file: BorrowedFd<'_>, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let read = pread(file, bytes, offset(at)?)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes = &mut bytes[read..];
        at += read as u64;
    }
    Ok(())
}

pub(crate) fn punch_hole(file: &OwnedFd, at: u64, length: u64) -> io::Result<()> {
    let how = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
    Ok(fallocate(file, how, offset(at)?, offset(length)?)?)
}

pub(crate) fn send_file(
    socket: impl AsFd,
    file: BorrowedFd<'_>,
    at: u64,
    length: usize,
) -> io::Result<usize> {
    Ok(sendfile(socket, file, Some(&mut offset(at)?), length)?)
}

/// Sends bytes that more data follows immediately (`MSG_MORE`); returns the number accepted.
pub(crate) fn send_first(socket: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    let more = MsgFlags::from_bits_retain(libc::MSG_MORE);
    let how = more | MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT;
    Ok(send(socket.as_fd().as_raw_fd(), bytes, how)?)
}

/// Returns the number of discarded bytes, 0 at the end. Nothing is copied (`MSG_TRUNC`, man 7 tcp).
#[expect(unsafe_code, reason = "no safe function takes a length without a place")]
pub(crate) fn discard(socket: impl AsFd, most: usize) -> io::Result<usize> {
    let how = libc::MSG_TRUNC | libc::MSG_DONTWAIT;
    // SAFETY: with MSG_TRUNC the kernel writes nothing for a TCP socket; for other sockets it fails with
    // EFAULT, because the buffer is null.
    let discarded = unsafe { libc::recv(socket.as_fd().as_raw_fd(), ptr::null_mut(), most, how) };
    usize::try_from(discarded).map_err(|_| io::Error::last_os_error())
}

#[expect(unsafe_code, reason = "no safe function asks for it")]
pub(crate) fn pacing_rate(socket: impl AsFd) -> io::Result<u64> {
    let mut info = MaybeUninit::<libc::tcp_info>::zeroed();
    let mut length = libc::socklen_t::try_from(size_of::<libc::tcp_info>()).unwrap_or(0);
    let socket = socket.as_fd().as_raw_fd();
    // SAFETY: the kernel writes at most `length` bytes to a buffer of that size.
    let asked = unsafe {
        libc::getsockopt(socket, libc::IPPROTO_TCP, libc::TCP_INFO, info.as_mut_ptr().cast(), &raw mut length)
    };
    if asked != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: all fields are integers, and those that the kernel did not write are zero.
    Ok(unsafe { info.assume_init() }.tcpi_pacing_rate)
}

fn offset(at: u64) -> io::Result<i64> {
    i64::try_from(at).map_err(|_| io::ErrorKind::InvalidInput.into())
}

pub(crate) struct Mapping {
    begin: NonNull<u8>,
    length: usize,
}

impl Mapping {
    /// Maps the first bytes of a file for the lifetime of the process. Nothing is read yet.
    #[expect(unsafe_code, reason = "to map a file is the caller's responsibility")]
    pub(crate) fn new(file: &OwnedFd, length: u64) -> io::Result<Self> {
        let size =
            usize::try_from(length).ok().and_then(NonZeroUsize::new).ok_or(io::ErrorKind::InvalidInput)?;
        // SAFETY: a new mapping, at an address chosen by the kernel, does not affect other memory. It is
        // never unmapped.
        let begin = unsafe { mmap(None, size, ProtFlags::PROT_READ, MapFlags::MAP_SHARED, file, 0) }?;
        Ok(Self { begin: begin.cast(), length: size.get() })
    }

    /// The caller guarantees that these bytes have been written and are not modified while
    /// borrowed.
    #[expect(unsafe_code, reason = "the compiler does not know who writes to the file")]
    pub(crate) fn bytes(&self, at: u64, length: usize) -> &[u8] {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        assert!(at.checked_add(length).is_some_and(|end| end <= self.length), "within the mapping");
        // SAFETY: the range is within the mapping, as asserted above, and the mapping lives as long as
        // the process. Each range of the file is written once, before it is read, and its pages remain
        // until it is no longer borrowed (`memfd_buffer.rs`).
        unsafe { slice::from_raw_parts(self.begin.as_ptr().add(at), length) }
    }

    /// `None` if they are not in this mapping.
    pub(crate) fn offset_of(&self, bytes: &[u8]) -> Option<u64> {
        let at = bytes.as_ptr().addr().checked_sub(self.begin.as_ptr().addr())?;
        at.checked_add(bytes.len()).filter(|&end| end <= self.length).map(|_| at as u64)
    }
}

#[expect(unsafe_code, reason = "a pointer is not shared between threads unless somebody says that it may be")]
// SAFETY: nothing is ever written through the pointer.
unsafe impl Send for Mapping {}
#[expect(unsafe_code, reason = "a pointer is not shared between threads unless somebody says that it may be")]
// SAFETY: nothing is ever written through the pointer.
unsafe impl Sync for Mapping {}
