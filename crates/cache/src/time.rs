//! The time of the wall clock, as HTTP's dates have it, to the millisecond.

use std::time::{Duration, UNIX_EPOCH};

use http_types::{HeaderMap, HeaderName};

/// A point in time, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// So many milliseconds after the beginning of 1970.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since then.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// How long after `earlier` it is; zero if it is before.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// This much later.
    #[must_use]
    pub fn after(self, by: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(by.as_millis()).unwrap_or(u64::MAX)))
    }

    /// An HTTP-date in any of its three formats (RFC 9110 section 5.6.7), whatever the case of its letters.
    pub fn parse(text: &str) -> Option<Self> {
        let text = in_usual_case(text.trim());
        // The parser wants the day of the week to be right. Where it is written without a comma, nobody relies on it.
        let parsed = match text.get(3..) {
            Some(rest) if text.len() == ASCTIME_LENGTH => {
                DAYS.iter().find_map(|day| httpdate::parse_http_date(&format!("{day}{rest}")).ok())?
            }
            _ => httpdate::parse_http_date(&text).ok()?,
        };
        // The parser takes more than the grammar allows; what is written back is the test.
        let is_strict = text.len() != IMF_LENGTH || httpdate::fmt_http_date(parsed) == text;
        let elapsed = parsed.duration_since(UNIX_EPOCH).ok().filter(|_| is_strict)?;
        Some(Self(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)))
    }

    /// The date in a field, if there is exactly one line of it and that is an HTTP-date.
    pub fn in_field(headers: &HeaderMap, name: &HeaderName) -> Option<Self> {
        let mut lines = headers.get_all(name).iter();
        let (line, None) = (lines.next()?, lines.next()) else { return None };
        Self::parse(line.to_str().ok()?)
    }

    /// As an HTTP-date, to the second.
    pub fn to_http(self) -> String {
        // The format has four digits for a year.
        let last = UNIX_EPOCH + Duration::from_secs(LAST_SECOND);
        httpdate::fmt_http_date((UNIX_EPOCH + Duration::from_millis(self.0)).min(last))
    }
}

/// Names of days and months as the grammar has them: "THU, 18 AUG 2050 02:01:18 gmt" is "Thu, 18 Aug 2050 02:01:18 GMT".
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

/// Characters of "Thu, 18 Aug 2050 02:01:18 GMT".
const IMF_LENGTH: usize = 29;
/// Characters of "Thu Aug 18 02:01:18 2050".
const ASCTIME_LENGTH: usize = 24;
const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// The last second of the year 9999.
const LAST_SECOND: u64 = 253_402_300_799;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_three_formats_and_any_case() {
        // 80 years and 20 leap days after 1970, and 229 days and 2:01:18 more.
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
