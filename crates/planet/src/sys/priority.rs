//! Asks the scheduler to run this thread soon after it wakes.

#![expect(unsafe_code, reason = "sched_setattr has no safe wrapper")]

/// Runs this thread before others: with the highest priority where that is permitted, and else with a short slice, which
/// brings its turn forward at the price of a shorter one (Linux 6.12 and newer; older ones ignore it). Without either,
/// the thread waits for its turn among the programs that are being measured.
pub(crate) fn run_promptly() {
    let attributes = |nice| Attributes {
        size: u32::try_from(size_of::<Attributes>()).expect("a few dozen bytes"),
        policy: 0,
        flags: 0,
        nice,
        priority: 0,
        runtime: SLICE_NS,
        deadline: 0,
        period: 0,
    };
    if !set(&attributes(-20)) {
        set(&attributes(0));
    }
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

/// The shortest slice that the kernel accepts.
const SLICE_NS: u64 = 100_000;
