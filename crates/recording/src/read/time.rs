//! Wall-clock times as files write them, in nanoseconds since 1970.

use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// "2025-03-14T09:26:53.589Z", with any offset; also with a space for the T. `None` for anything else, and before 1970.
pub(crate) fn rfc3339(text: &str) -> Option<u64> {
    nanoseconds(OffsetDateTime::parse(text, &Rfc3339).ok()?)
}

/// A date such as "2025-03-14T09:26:53Z" (RFC 3339) as seconds since 1970; `None` for anything else.
pub fn unix_seconds(text: &str) -> Option<f64> {
    rfc3339(text).map(|nanoseconds| nanoseconds as f64 / 1e9)
}

/// Nanoseconds since 1970, up to the year 2554.
pub(crate) fn nanoseconds(time: OffsetDateTime) -> Option<u64> {
    u64::try_from(time.unix_timestamp_nanos()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants() {
        // 2025-03-14T09:26:53Z is 1741944413 (date -d ... +%s).
        assert_eq!(rfc3339("2025-03-14T09:26:53Z"), Some(1_741_944_413_000_000_000));
        assert_eq!(rfc3339("2025-03-14T10:26:53.000000001+01:00"), Some(1_741_944_413_000_000_001));
        assert_eq!(rfc3339("1969-12-31T23:59:59Z"), None);
        assert_eq!(rfc3339("yesterday"), None);
    }
}
