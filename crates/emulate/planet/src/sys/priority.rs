//! Sets the scheduling of a thread: soon after it wakes up, or only when the processor is otherwise idle.

#![expect(unsafe_code, reason = "sched_setattr has no safe wrapper")]

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Immediately, before all ordinary threads on its processor (SCHED_FIFO). Not for threads that could
    /// occupy all processors.
    AtOnce,
    /// Before others, but with fair scheduling.
    Early,
}

/// Schedules this thread before others. [`Turn::AtOnce`] needs a privilege (root, or a limit RLIMIT_RTPRIO
/// above 0). Without it, and for [`Turn::Early`], the thread gets the highest ordinary priority if permitted,
/// and otherwise a short slice, which makes it run earlier but for a shorter time (Linux 6.12 and newer;
/// older kernels ignore it). Without any of these, the thread competes with the programs under test.
pub(crate) fn run_promptly(turn: Turn) {
    let attributes =
        |nice| Attributes { policy: SCHED_OTHER, nice, runtime: SHORTEST_SLICE_NS, ..Attributes::default() };
    let is_set = turn == Turn::AtOnce && can_run_at_once() || set(&attributes(-20));
    if !is_set {
        set(&attributes(0));
    }
}

/// Gives this thread real-time priority; returns whether that succeeded.
pub(crate) fn can_run_at_once() -> bool {
    set(&Attributes { policy: SCHED_FIFO, priority: LOWEST_PRIORITY, ..Attributes::default() })
}

/// Gives this thread a higher real-time priority than [`can_run_at_once`]; returns whether that succeeded.
/// For threads that use very little time.
pub(crate) fn can_run_first() -> bool {
    set(&Attributes { policy: SCHED_FIFO, priority: LOWEST_PRIORITY + 1, ..Attributes::default() })
}

/// Runs this thread only when its processor would be idle otherwise; returns whether that succeeded. The
/// niceness, which only the ordinary policy sets, makes its time count as low-priority time.
pub(crate) fn run_only_when_idle() -> bool {
    set(&Attributes { policy: SCHED_OTHER, nice: 19, ..Attributes::default() })
        && set(&Attributes { policy: SCHED_IDLE, ..Attributes::default() })
}

fn set(attributes: &Attributes) -> bool {
    // SAFETY: the kernel reads `size` bytes from the pointer, which is valid for the call; 0 is the calling
    // thread.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, std::ptr::from_ref(attributes), 0) == 0 }
}

/// `struct sched_attr`, first version (sched_setattr(2)).
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
/// The lowest real-time priority: above all ordinary threads, and below the kernel's real-time threads.
const LOWEST_PRIORITY: u32 = 1;
const SHORTEST_SLICE_NS: u64 = 100_000;
