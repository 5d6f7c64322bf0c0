//! Elapsed time and processor time of programs.

use std::time::{Duration, Instant};

use nix::sys::{
    resource::{UsageWho, getrusage},
    time::TimeVal,
};

#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    pub seconds: f64,
    pub processor_s: f64,
}

/// No other thread may wait for a child at the same time.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
pub(super) fn of<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(T, Cost)> {
    let (start, before) = (Instant::now(), children()?);
    let result = work()?;
    let processor_s = (children()? - before).as_secs_f64();
    Ok((result, Cost { seconds: start.elapsed().as_secs_f64(), processor_s }))
}

fn children() -> anyhow::Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    Ok(duration(usage.user_time()) + duration(usage.system_time()))
}

fn duration(time: TimeVal) -> Duration {
    let part = |value: i64| u64::try_from(value).unwrap_or_default();
    Duration::from_secs(part(time.tv_sec())) + Duration::from_micros(part(time.tv_usec()))
}
