//! Sets the scheduling of a thread: soon after it wakes up, or only when the processor is otherwise
//! idle.

#![expect(unsafe_code, reason = "sched_setattr has no safe wrapper")]

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// SCHED_FIFO. Not for threads that could occupy all processors.
    AtOnce,
    /// Before others, but with fair scheduling.
    Early,
}

/// [`Turn::AtOnce`] needs a privilege (root, or RLIMIT_RTPRIO above 0). Without it, the thread gets
/// the highest ordinary priority if permitted, and otherwise a short slice (Linux 6.12 and newer).
pub(crate) fn run_promptly(turn: Turn) {
    let attributes =
        |nice| Attributes { policy: SCHED_OTHER, nice, runtime: SHORTEST_SLICE_NS, ..Attributes::default() };
    let is_set = turn == Turn::AtOnce && can_run_at_once() || set(&attributes(-20));
    if !is_set {
        set(&attributes(0));
    }
}

pub(crate) fn can_run_at_once() -> bool {
    set(&Attributes { policy: SCHED_FIFO, priority: LOWEST_PRIORITY, ..Attributes::default() })
}

/// With a higher priority than [`can_run_at_once`], for threads that use very little time; returns
/// whether that succeeded.
pub(crate) fn can_run_first() -> bool {
    set(&Attributes { policy: SCHED_FIFO, priority: LOWEST_PRIORITY + 1, ..Attributes::default() })
}

pub(crate) fn run_only_when_idle() -> bool {
    set(&Attributes { policy: SCHED_OTHER, nice: 19, ..Attributes::default() })
        && set(&Attributes { policy: SCHED_IDLE, ..Attributes::default() })
}

fn set(attributes: &Attributes) -> bool {
    // SAFETY: the kernel reads `size` bytes from the pointer, which is valid for the call; 0 is the calling
    // thread.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, std::ptr::from_ref(attributes), 0) == 0 }
}

#[repr(C)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

impl Default for Attributes {
    fn default() -> Self {
        let size = u32::try_from(size_of::<Self>()).expect("a few dozen bytes");
        Self { size, policy: SCHED_OTHER, flags: 0, nice: 0, priority: 0, runtime: 0, deadline: 0, period: 0 }
    }
}

const SCHED_OTHER: u32 = 0;
const SCHED_FIFO: u32 = 1;
const SCHED_IDLE: u32 = 5;
/// Above all ordinary threads, and below the kernel's real-time threads.
const LOWEST_PRIORITY: u32 = 1;
const SHORTEST_SLICE_NS: u64 = 100_000;
