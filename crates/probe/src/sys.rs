//! What this crate asks of the operating system itself.

use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};

/// Processor time that the calling thread has used so far.
pub(crate) fn thread_cpu() -> Duration {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_THREAD) else { return Duration::ZERO };
    let micros = [usage.user_time(), usage.system_time()]
        .map(|time| time.tv_sec().saturating_mul(1_000_000).saturating_add(time.tv_usec()))
        .into_iter()
        .sum::<i64>();
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}

/// This machine's name, if it has one that is text.
pub(crate) fn host_name() -> Option<String> {
    nix::unistd::gethostname().ok()?.into_string().ok()
}
