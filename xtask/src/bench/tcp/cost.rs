//! What programs take: time, and time of a processor.

use std::time::{Duration, Instant};

use nix::sys::{
    resource::{UsageWho, getrusage},
    time::TimeVal,
};

/// What was taken, s.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    pub seconds: f64,
    /// Of the programs that have ended meanwhile, from their beginning on, with all that they started and waited for.
    pub processor_s: f64,
}

/// Does something that starts programs and waits for them. What other threads start must not end meanwhile.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
pub(super) fn of<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(T, Cost)> {
    let (start, before) = (Instant::now(), children()?);
    let result = work()?;
    let processor_s = (children()? - before).as_secs_f64();
    Ok((result, Cost { seconds: start.elapsed().as_secs_f64(), processor_s }))
}

/// Processor time of all children that were waited for.
fn children() -> anyhow::Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    Ok(duration(usage.user_time()) + duration(usage.system_time()))
}

fn duration(time: TimeVal) -> Duration {
    let part = |value: i64| u64::try_from(value).unwrap_or_default();
    Duration::from_secs(part(time.tv_sec())) + Duration::from_micros(part(time.tv_usec()))
}
