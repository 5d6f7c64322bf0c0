//! Wall-clock times as files write them, in nanoseconds since 1970.

use time::{
    Date, Month, OffsetDateTime, PrimitiveDateTime, Time, UtcOffset, format_description::well_known::Rfc3339,
};

/// "2025-03-14T09:26:53.589Z", with any offset; also with a space for the T. `None` before 1970.
pub(crate) fn rfc3339(text: &str) -> Option<u64> {
    nanoseconds(OffsetDateTime::parse(text, &Rfc3339).ok()?)
}

/// A date such as "2025-03-14T09:26:53Z" (RFC 3339) as seconds since 1970; `None` for anything
/// else.
pub fn unix_seconds(text: &str) -> Option<f64> {
    rfc3339(text).map(|nanoseconds| nanoseconds as f64 / 1e9)
}

/// Year, month and day with "-" or "/" between them, "T" or a space, hours, minutes and perhaps
/// seconds with a fraction, and perhaps an offset. UTC without an offset; `None` before 1970.
pub(crate) fn date(text: &str) -> Option<u64> {
    let (day, rest) = text.split_at_checked(10)?;
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let end =
        rest.find(|letter: char| !letter.is_ascii_digit() && !":.,".contains(letter)).unwrap_or(rest.len());
    let (clock, offset) = rest.split_at(end);
    let separator = day.get(4..5).filter(|separator| ["-", "/"].contains(separator))?;
    let mut parts = day.split(separator).map(|part| part.parse::<u16>().ok());
    let (Some(year), Some(month), Some(day), None) =
        (parts.next()?, parts.next()?, parts.next()?, parts.next())
    else {
        return None;
    };
    let month = Month::try_from(u8::try_from(month).ok()?).ok()?;
    let date = Date::from_calendar_date(i32::from(year), month, u8::try_from(day).ok()?).ok()?;
    let time = PrimitiveDateTime::new(date, time_of_day(clock)?);
    nanoseconds(time.assume_offset(self::offset(offset.trim())?))
}

/// "09:26", "09:26:53" or "09:26:53.589", also with a comma.
fn time_of_day(text: &str) -> Option<Time> {
    let (clock, fraction) = text.split_once(['.', ',']).unwrap_or((text, ""));
    let mut parts =
        clock.split(':').map(|part| Some(part).filter(|part| part.len() == 2)?.parse::<u8>().ok());
    let (hour, minute) = (parts.next()??, parts.next()??);
    let second = parts.next().map_or(Some(0), |second| second)?;
    if parts.next().is_some() || fraction.len() > 9 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let nanosecond = format!("{fraction:0<9}").parse().ok()?;
    Time::from_hms_nano(hour, minute, second, nanosecond).ok()
}

/// "Z", "+01:00", "+0100", "+01", or nothing, which is UTC.
fn offset(text: &str) -> Option<UtcOffset> {
    if ["", "Z", "z", "UTC", "GMT"].contains(&text) {
        return Some(UtcOffset::UTC);
    }
    let sign = match text.get(..1)? {
        "+" => 1,
        "-" => -1,
        _ => return None,
    };
    let digits: String = text[1..].chars().filter(|letter| *letter != ':').collect();
    let is_complete = matches!(digits.len(), 2 | 4) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let part = |range: std::ops::Range<usize>| digits.get(range).unwrap_or("0").parse::<i8>().ok();
    let (hours, minutes) = (part(0..2)?, part(2..4)?);
    is_complete.then(|| UtcOffset::from_hms(sign * hours, sign * minutes, 0).ok()).flatten()
}

/// Since 1970, up to the year 2554.
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

    #[test]
    fn dates_in_common_forms() {
        let expected = Some(1_741_944_413_589_000_000);
        for text in [
            "2025-03-14T09:26:53.589Z",
            "2025/03/14 09:26:53.589",
            "2025-03-14 09:26:53,589",
            "2025-03-14 10:26:53.589 +0100",
            "2025-03-14T10:26:53.589+01:00",
            "2025-03-14T08:26:53.589-01",
            "2025-03-14 09:26:53.589 UTC",
        ] {
            assert_eq!(date(text), expected, "{text}");
        }
        assert_eq!(date("2025-03-14T09:26"), Some(1_741_944_360_000_000_000));
        for text in [
            "",
            "2025-03-14",
            "2025-13-14T09:26:53",
            "2025-02-30T09:26:53",
            "2025-03-14T25:00:00",
            "2025-03-14T09:26:53+",
            "2025-03-14T09:26:53+1",
            "2025-03-14T09:26:53 CET",
            "14/03/2025 09:26:53",
            "2025-03/14 09:26:53",
            "1969-12-31 23:59:59",
            "2025-03-14T9:26:53",
            "2025-03-14T09:26:53.0123456789",
            "\u{e4}025-03-14T09:26:53",
        ] {
            assert_eq!(date(text), None, "{text}");
        }
    }
}
