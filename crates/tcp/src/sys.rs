//! The system calls of this crate that no safe library wraps. All unsafe code of the crate is here and below.

pub(crate) mod foreign;

/// Bytes in a page of memory.
pub(crate) fn page_bytes() -> u64 {
    // SAFETY: no pointers, and the name is one that every Linux knows.
    #[expect(unsafe_code, reason = "no library in use here wraps it")]
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(bytes).unwrap_or(4096)
}
