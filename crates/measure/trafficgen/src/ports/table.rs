//! A private descriptor table for a thread.
//!
//! A process may hold a limited number of descriptors (`ulimit -n`), often fewer than there are ports. The
//! limit applies to each table, and a thread can leave the shared table (`CLONE_FILES` of unshare(2), which
//! needs no privilege). The sockets of a measurement are therefore distributed over several threads. The
//! kernel closes them all when the process ends.

use nix::sched::{CloneFlags, unshare};

/// Runs `run` with a copy of the descriptor table. `run` must close the descriptors that it opens: they are
/// invalid in other threads.
///
/// # Panics
/// If the kernel has no memory for the table.
pub(super) fn with_its_own<T>(run: impl FnOnce() -> T) -> T {
    unshare(CloneFlags::CLONE_FILES).expect("no memory for a descriptor table");
    run()
}
