//! The one place that reads the time of day, in which ages and dates count.

use cache::Time;

/// Now.
pub(crate) fn now() -> Time {
    Time::from_millis(u64::try_from(http::clock::wall_ns() / 1_000_000).unwrap_or(0))
}
