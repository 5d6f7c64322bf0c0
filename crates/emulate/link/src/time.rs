//! Transmission time: picoseconds, because a nanosecond would lose 0.04 % at 5 Gbit/s.

use std::time::Duration;

/// A u64 holds 213 days, longer than any planet runs.
pub(crate) fn picoseconds(time: Duration) -> u64 {
    time.as_secs().saturating_mul(1_000_000_000_000).saturating_add(u64::from(time.subsec_nanos()) * 1000)
}

/// Rounded up to a nanosecond.
pub(crate) fn duration(ps: u64) -> Duration {
    Duration::from_nanos(ps.div_ceil(1000))
}
