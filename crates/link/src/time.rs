//! Transmission time: picoseconds, because a nanosecond would lose 0.04 % at 5 Gbit/s.

use std::time::Duration;

/// A time in picoseconds; in a u64 they last 213 days, and no planet runs that long.
pub(crate) fn picoseconds(time: Duration) -> u64 {
    time.as_secs().saturating_mul(1_000_000_000_000).saturating_add(u64::from(time.subsec_nanos()) * 1000)
}

/// The first nanosecond that is not before `ps`.
pub(crate) fn duration(ps: u64) -> Duration {
    Duration::from_nanos(ps.div_ceil(1000))
}
