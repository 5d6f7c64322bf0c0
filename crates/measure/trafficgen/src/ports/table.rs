//! A private descriptor table for a thread.
//!
//! The limit of descriptors (`ulimit -n`) applies to each table, and a thread can leave the shared
//! table (`CLONE_FILES` of unshare(2), without privilege).

use nix::sched::{CloneFlags, unshare};

/// `run` must close the descriptors that it opens: they are invalid in other threads.
///
/// # Panics
/// If the kernel has no memory for the table.
pub(super) fn with_its_own<T>(run: impl FnOnce() -> T) -> T {
    unshare(CloneFlags::CLONE_FILES).expect("no memory for a descriptor table");
    run()
}
