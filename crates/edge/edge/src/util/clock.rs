//! The only reader of the wall clock, for ages and dates.

use http_cache::Time;

pub(crate) fn now() -> Time {
    Time::from_millis(u64::try_from(http_stack::clock::wall_ns() / 1_000_000).unwrap_or(0))
}

/// Seconds since the Unix epoch, the unit of validity periods.
pub(crate) fn unix_s() -> u64 {
    now().as_millis() / 1_000
}
