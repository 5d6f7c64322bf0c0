//! Wall clock time in milliseconds, and HTTP dates.

use std::time::{Duration, UNIX_EPOCH};

use http_types::{HeaderMap, HeaderName};

/// A point in time, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// A time in milliseconds since 1970.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// The duration since `earlier`; zero if that is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// The time after this duration.
    #[must_use]
    pub fn after(self, by: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(by.as_millis()).unwrap_or(u64::MAX)))
    }

    /// Parses an HTTP-date in any of its three formats (RFC 9110 section 5.6.7).
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(time) = usual(text.as_bytes()) {
            return Some(time);
        }
        let text = in_usual_case(text.trim());
        // The parser verifies the day of the week, except in the asctime format.
        let parsed = match text.get(3..) {
            Some(rest) if text.len() == ASCTIME_LENGTH => {
                DAYS.iter().find_map(|day| httpdate::parse_http_date(&format!("{day}{rest}")).ok())?
            }
            _ => httpdate::parse_http_date(&text).ok()?,
        };
        // The parser is more lenient than the grammar: formatting the result detects deviations.
        let is_strict = text.len() != IMF_LENGTH || httpdate::fmt_http_date(parsed) == text;
        let elapsed = parsed.duration_since(UNIX_EPOCH).ok().filter(|_| is_strict)?;
        Some(Self(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)))
    }

    /// The date in a field with exactly one valid line.
    pub fn in_field(headers: &HeaderMap, name: &HeaderName) -> Option<Self> {
        let mut lines = headers.get_all(name).iter();
        let (line, None) = (lines.next()?, lines.next()) else { return None };
        Self::parse(line.to_str().ok()?)
    }

    /// Formats an HTTP-date, with a resolution of one second.
    pub fn to_http(self) -> String {
        // Four digits for a year.
        let last = UNIX_EPOCH + Duration::from_secs(LAST_SECOND);
        httpdate::fmt_http_date((UNIX_EPOCH + Duration::from_millis(self.0)).min(last))
    }
}

/// Only the usual format, "Thu, 18 Aug 2050 02:01:18 GMT".
fn usual(text: &[u8]) -> Option<Time> {
    let text: &[u8; IMF_LENGTH] = text.try_into().ok()?;
    let number = |from: usize, to: usize| {
        text[from..to].iter().try_fold(0, |number: u64, digit| {
            digit.is_ascii_digit().then(|| number * 10 + u64::from(digit - b'0'))
        })
    };
    let is_spaced = text[3..5] == *b", " && [7, 11, 16].iter().all(|&at| text[at] == b' ');
    if !is_spaced || text[19] != b':' || text[22] != b':' || text[25..] != *b" GMT" {
        return None;
    }
    let place = |names: &[&str], name: &[u8]| names.iter().position(|other| other.as_bytes() == name);
    let (day, month, year) = (number(5, 7)?, place(&MONTHS, &text[8..11])?, number(12, 16)?);
    let (hour, minute, second) = (number(17, 19)?, number(20, 22)?, number(23, 25)?);
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let last = if month == 1 && is_leap { 29 } else { LENGTHS[month] };
    if year < 1970 || !(1..=last).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    // Leap days up to the end of a year (477 by 1969), and days of the date's year before its
    // month.
    let leaps = |year: u64| year / 4 - year / 100 + year / 400;
    let before: u64 = LENGTHS[..month].iter().sum::<u64>() + u64::from(month > 1 && is_leap);
    let days = (year - 1970) * 365 + leaps(year - 1) - leaps(1969) + before + day - 1;
    // Day 0 was a Thursday.
    let weekday = usize::try_from((days + 3) % 7).ok()?;
    let is_right = DAYS[weekday].as_bytes() == &text[..3];
    is_right.then(|| Time(1000 * (((days * 24 + hour) * 60 + minute) * 60 + second)))
}

/// "THU, 18 AUG 2050 02:01:18 gmt" becomes "Thu, 18 Aug 2050 02:01:18 GMT".
fn in_usual_case(text: &str) -> String {
    let mut usual = String::with_capacity(text.len());
    let mut begins_word = true;
    for letter in text.chars() {
        usual.push(if begins_word { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() });
        begins_word = !letter.is_ascii_alphabetic();
    }
    match usual.strip_suffix("Gmt") {
        Some(before) => format!("{before}GMT"),
        None => usual,
    }
}

/// "Thu, 18 Aug 2050 02:01:18 GMT".
const IMF_LENGTH: usize = 29;
/// "Thu Aug 18 02:01:18 2050".
const ASCTIME_LENGTH: usize = 24;
const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/// Without a leap day.
const LENGTHS: [u64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// Of the year 9999.
const LAST_SECOND: u64 = 253_402_300_799;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_three_formats_and_any_case() {
        let expected = Time::from_millis(((80 * 365 + 20 + 229) * 86_400 + 7_278) * 1000);
        for text in [
            "Thu, 18 Aug 2050 02:01:18 GMT",
            "THU, 18 AUG 2050 02:01:18 gMT",
            "Thursday, 18-Aug-50 02:01:18 GMT",
            "Thu Aug 18 02:01:18 2050",
            "Mon Aug 18 02:01:18 2050",
        ] {
            assert_eq!(Time::parse(text), Some(expected), "{text}");
        }
        assert_eq!(expected.to_http(), "Thu, 18 Aug 2050 02:01:18 GMT");
    }

    #[test]
    fn each_date_of_four_hundred_years_is_read_as_it_was_written() {
        for seconds in (0..13_600_000_000).step_by(86_400 * 3 + 7_919) {
            let time = Time::from_millis(seconds * 1000);
            assert_eq!(usual(time.to_http().as_bytes()), Some(time), "{}", time.to_http());
        }
        let last = Time::from_millis(LAST_SECOND * 1000);
        assert_eq!(usual(last.to_http().as_bytes()), Some(last));
    }

    #[test]
    fn a_day_that_is_not_there_is_none() {
        for text in [
            "Sat, 29 Feb 2100 00:00:00 GMT",
            "Mon, 01 Mar 2100 24:00:00 GMT",
            "Tue, 01 Mar 2100 00:00:00 GMT",
            "Mon, 00 Mar 2100 00:00:00 GMT",
            "Mon, 32 Mar 2100 00:00:00 GMT",
            "Mon, 01 Mrz 2100 00:00:00 GMT",
            "Mon, 01 Mar 2100 00:60:00 GMT",
        ] {
            assert_eq!((usual(text.as_bytes()), Time::parse(text)), (None, None), "{text}");
        }
        assert!(usual(b"Mon, 01 Mar 2100 00:00:00 GMT").is_some());
    }

    #[test]
    fn what_only_looks_like_a_date_is_none() {
        for text in [
            "",
            "0",
            "Thu, 18 Aug 2050 02:01:18 UTC",
            "Thu, 18 Aug 2050 02:01:18 AEST",
            "Thu, 18 Aug 50 02:01:18 GMT",
            "Thu 18 Aug 2050 02:01:18 GMT",
            "Thu, 18  Aug  2050 02:01:18 GMT",
            "Thu, 18-Aug-2050 02:01:18 GMT",
            "Thu, 18 Aug 2050 02.01.18 GMT",
            "Thu, 18 Aug 2050 2:01:18 GMT",
        ] {
            assert_eq!(Time::parse(text), None, "{text}");
        }
    }
}
