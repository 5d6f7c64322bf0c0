//! System calls of this crate.

use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};

pub(crate) fn thread_cpu() -> Duration {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_THREAD) else { return Duration::ZERO };
    let micros = [usage.user_time(), usage.system_time()]
        .map(|time| time.tv_sec().saturating_mul(1_000_000).saturating_add(time.tv_usec()))
        .into_iter()
        .sum::<i64>();
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}

pub(crate) fn host_name() -> Option<String> {
    nix::unistd::gethostname().ok()?.into_string().ok()
}
