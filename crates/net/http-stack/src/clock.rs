//! The only module that reads a clock, for this crate and for the crates that measure HTTP with it.

use std::{
    cell::RefCell,
    time::{Duration, Instant, SystemTime},
};

use hyper::header::HeaderValue;
use nix::time::{ClockId, clock_gettime};

/// A monotonic clock that starts with the run. Copies have the same origin.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    origin: Instant,
}

impl Clock {
    /// Starts a clock now.
    #[expect(clippy::disallowed_methods, reason = "a shell's clock module")]
    pub fn start() -> Self {
        Self { origin: Instant::now() }
    }

    /// The start time on the machine's monotonic clock (CLOCK_MONOTONIC), ns: comparable between
    /// processes on this machine.
    pub fn started_monotonic_ns(self) -> Option<u64> {
        let now = clock_gettime(ClockId::CLOCK_MONOTONIC).ok()?;
        Some(nanos(Duration::from(now)).saturating_sub(self.now()))
    }

    /// Nanoseconds since the start; at least 1, so that 0 can mean "has not happened" in an atomic.
    pub fn now(self) -> u64 {
        nanos(self.origin.elapsed()).max(1)
    }
}

/// A duration in the units of [`Clock::now`]; saturates at 584 years.
pub fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Wall-clock time since 1970, ns, for comparison with kernel time stamps. It can jump.
pub fn wall_ns() -> i64 {
    let now = clock_gettime(ClockId::CLOCK_REALTIME).map(Duration::from).unwrap_or_default();
    i64::try_from(now.as_nanos()).unwrap_or(i64::MAX)
}

/// The current time as a Date field value (RFC 9110 section 5.6.7), cached per thread for one second.
pub fn http_date() -> HeaderValue {
    let now = u64::try_from(wall_ns() / 1_000_000_000).unwrap_or(0);
    DATE.with_borrow_mut(|(second, date)| {
        if *second != now {
            let text = httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + Duration::from_secs(now));
            if let Ok(value) = HeaderValue::try_from(text) {
                (*second, *date) = (now, value);
            }
        }
        date.clone()
    })
}

thread_local! {
    static DATE: RefCell<(u64, HeaderValue)> =
        const { RefCell::new((0, HeaderValue::from_static("Thu, 01 Jan 1970 00:00:00 GMT"))) };
}

/// Wall-clock time as RFC 3339 with milliseconds, UTC. Only for display and for joining files.
#[expect(
    clippy::disallowed_methods,
    reason = "a shell's clock module; the header of a recording carries a date"
)]
pub fn wall() -> String {
    rfc3339(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default())
}

/// Formats a time since 1970 as RFC 3339 with milliseconds, UTC.
pub fn rfc3339(since_epoch: Duration) -> String {
    let (days, second) = (since_epoch.as_secs() / 86_400, since_epoch.as_secs() % 86_400);
    let days = days + DAYS_FROM_YEAR_0_TO_1970;
    let (era, day_of_era) = (days / DAYS_PER_ERA, days % DAYS_PER_ERA);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let millis = since_epoch.subsec_millis();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// From 1 March of year 0 to 1 January 1970.
const DAYS_FROM_YEAR_0_TO_1970: u64 = 719_468;
/// An era is 400 years, after which the Gregorian calendar repeats.
const DAYS_PER_ERA: u64 = 146_097;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199, "2024-02-29T23:59:59.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(rfc3339(Duration::from_secs(seconds)), text);
        }
    }
}
