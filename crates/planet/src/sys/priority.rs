//! Asks the scheduler to run a thread soon after it wakes, or only when nothing else would run.

#![expect(unsafe_code, reason = "sched_setattr has no safe wrapper")]

/// How this thread takes its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// At once, whatever else runs on its processor (SCHED_FIFO). Not for threads that could take all processors.
    AtOnce,
    /// Before others, but with them.
    Early,
}

/// Runs this thread before others. [`Turn::AtOnce`] takes a privilege (root's, or a limit RLIMIT_RTPRIO above 0); without it,
/// and for [`Turn::Early`], it is the highest ordinary priority where that is permitted, and else a short slice, which brings
/// its turn forward at the price of a shorter one (Linux 6.12 and newer; older ones ignore it). Without any of these, the
/// thread waits for its turn among the programs that are being measured.
pub(crate) fn run_promptly(turn: Turn) {
    let attributes =
        |nice| Attributes { policy: SCHED_OTHER, nice, runtime: SHORTEST_SLICE_NS, ..Attributes::default() };
    let is_set = turn == Turn::AtOnce && can_run_at_once() || set(&attributes(-20));
    if !is_set {
        set(&attributes(0));
    }
}

/// Makes this thread run at once whenever it can run; whether that could be had.
pub(crate) fn can_run_at_once() -> bool {
    set(&Attributes { policy: SCHED_FIFO, priority: LOWEST_PRIORITY, ..Attributes::default() })
}

/// Makes this thread run before those too; whether that could be had. For threads that hardly take any time.
pub(crate) fn can_run_first() -> bool {
    set(&Attributes { policy: SCHED_FIFO, priority: LOWEST_PRIORITY + 1, ..Attributes::default() })
}

/// Runs this thread only when its processor would be idle otherwise; whether that could be had. Its time counts as
/// low-priority time, for which the kernel goes by the niceness, and that only the ordinary policy sets.
pub(crate) fn run_only_when_idle() -> bool {
    set(&Attributes { policy: SCHED_OTHER, nice: 19, ..Attributes::default() })
        && set(&Attributes { policy: SCHED_IDLE, ..Attributes::default() })
}

fn set(attributes: &Attributes) -> bool {
    // SAFETY: the kernel reads `size` bytes from the pointer, which is valid for the call; 0 is the calling thread.
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
/// Of the real-time priorities. It is above all ordinary ones, and below the kernel's own threads that have one.
const LOWEST_PRIORITY: u32 = 1;
const SHORTEST_SLICE_NS: u64 = 100_000;
