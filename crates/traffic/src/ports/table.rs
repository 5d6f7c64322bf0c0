//! A table of descriptors for a thread alone.
//!
//! A process may hold a limited number of descriptors (`ulimit -n`), often fewer than there are ports. The limit is one of
//! each table, though, and a thread can leave the one that it shares (`CLONE_FILES` of unshare(2), which takes no
//! privilege). So the sockets of a measurement are spread over as many threads as it takes, and nothing is left when
//! the process ends, however it does.

use nix::sched::{CloneFlags, unshare};

/// Runs this with a copy of the table of the thread that started this one. What it opens it also has to close: to others
/// its descriptors mean nothing.
///
/// # Panics
/// Where the kernel has no memory for the table.
pub(super) fn with_its_own<T>(run: impl FnOnce() -> T) -> T {
    unshare(CloneFlags::CLONE_FILES).expect("without memory for a table of descriptors nothing goes on");
    run()
}
