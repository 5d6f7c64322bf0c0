//! Times of day as servers write them, by a pattern of strftime.

use time::{Date, Month};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Clock {
    parts: Vec<Part>,
    example: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Text(u8),
    Year,
    Month,
    /// "Oct".
    MonthName,
    Day,
    Hour,
    Minute,
    Second,
    Fraction,
    /// "Z", "+0100" or "+01:00".
    Zone,
    Epoch,
    EpochMs,
    EpochUs,
}

impl Clock {
    /// `None` if the pattern is unknown or not enough for a time.
    pub(super) fn new(pattern: &str, example: &str) -> Option<Self> {
        let mut parts = Vec::new();
        let mut rest = pattern.bytes();
        while let Some(byte) = rest.next() {
            if byte != b'%' {
                parts.push(Part::Text(byte));
                continue;
            }
            match rest.next()? {
                b'Y' => parts.push(Part::Year),
                b'm' => parts.push(Part::Month),
                b'b' | b'h' => parts.push(Part::MonthName),
                b'd' => parts.push(Part::Day),
                b'H' => parts.push(Part::Hour),
                b'M' => parts.push(Part::Minute),
                b'S' => parts.push(Part::Second),
                b'z' => parts.push(Part::Zone),
                b's' => parts.push(Part::Epoch),
                // Not of strftime.
                b'Q' => parts.push(Part::EpochMs),
                b'J' => parts.push(Part::EpochUs),
                b'f' => parts.push(Part::Fraction),
                b'1'..=b'9' => {
                    rest.next().filter(|&byte| byte == b'f')?;
                    parts.push(Part::Fraction);
                }
                b'E' => {
                    rest.next().filter(u8::is_ascii_digit)?;
                    rest.next().filter(|&byte| byte == b'S')?;
                    parts.extend([Part::Second, Part::Text(b'.'), Part::Fraction]);
                }
                b'T' => {
                    parts.extend([
                        Part::Hour,
                        Part::Text(b':'),
                        Part::Minute,
                        Part::Text(b':'),
                        Part::Second,
                    ]);
                }
                b'F' => {
                    parts.extend([Part::Year, Part::Text(b'-'), Part::Month, Part::Text(b'-'), Part::Day]);
                }
                b'%' => parts.push(Part::Text(b'%')),
                _ => return None,
            }
        }
        let has = |part| parts.contains(&part);
        let has_epoch = [Part::Epoch, Part::EpochMs, Part::EpochUs].into_iter().any(has);
        let is_dated = has(Part::Year) && has(Part::Day) && (has(Part::Month) || has(Part::MonthName));
        let is_timed = has(Part::Hour) && has(Part::Minute) && has(Part::Second);
        (has_epoch || is_dated && is_timed).then(|| Self { parts, example: example.to_owned() })
    }

    pub(super) fn resolution_ns(&self) -> u64 {
        let is_fine = |part: &Part| matches!(part, Part::Fraction | Part::EpochMs | Part::EpochUs);
        if self.parts.iter().any(is_fine) { 1_000_000 } else { 1_000_000_000 }
    }

    pub(super) fn example(&self) -> &str {
        &self.example
    }

    /// Whether a "-" is part of a time and not the absence of one.
    pub(super) fn may_begin_with_minus(&self) -> bool {
        self.parts.first() == Some(&Part::Text(b'-'))
    }

    /// In nanoseconds since 1970, with the length in bytes. UTC without a zone.
    pub(super) fn read(&self, text: &[u8]) -> Option<(u64, usize)> {
        let mut rest = text;
        let (mut year, mut month, mut day) = (1970_i32, Month::January, 1_u8);
        let (mut seconds, mut offset_s, mut fraction_ns) = (0_i64, 0_i64, 0_u64);
        for part in &self.parts {
            match part {
                Part::Text(byte) => rest = rest.strip_prefix(&[*byte])?,
                Part::Year => year = i32::try_from(digits(&mut rest, 4, 4)?).ok()?,
                Part::Month => month = Month::try_from(u8::try_from(digits(&mut rest, 2, 2)?).ok()?).ok()?,
                Part::MonthName => month = named(&mut rest)?,
                Part::Day => day = u8::try_from(digits(&mut rest, 2, 2)?).ok()?,
                Part::Hour => seconds += digits(&mut rest, 2, 2).filter(|&hour| hour < 24)? * 3600,
                Part::Minute => seconds += digits(&mut rest, 2, 2).filter(|&minute| minute < 60)? * 60,
                // 60 is a leap second.
                Part::Second => seconds += digits(&mut rest, 2, 2).filter(|&second| second <= 60)?,
                Part::Fraction => {
                    let before = rest.len();
                    let value = u64::try_from(digits(&mut rest, 1, 9)?).ok()?;
                    let count = u32::try_from(before - rest.len()).ok()?;
                    fraction_ns = value * 10_u64.pow(9 - count);
                }
                Part::Zone => offset_s = zone(&mut rest)?,
                Part::Epoch => seconds += digits(&mut rest, 1, 11)?,
                Part::EpochMs => {
                    let ms = digits(&mut rest, 1, 14)?;
                    seconds += ms / 1000;
                    fraction_ns = u64::try_from(ms % 1000).ok()? * 1_000_000;
                }
                Part::EpochUs => {
                    let us = digits(&mut rest, 1, 17)?;
                    seconds += us / 1_000_000;
                    fraction_ns = u64::try_from(us % 1_000_000).ok()? * 1000;
                }
            }
        }
        let date = Date::from_calendar_date(year, month, day).ok()?;
        let since = date.midnight().assume_utc().unix_timestamp() + seconds - offset_s;
        let ns = u64::try_from(since).ok()?.checked_mul(1_000_000_000)?.checked_add(fraction_ns)?;
        Some((ns, text.len() - rest.len()))
    }
}

fn digits(rest: &mut &[u8], least: usize, most: usize) -> Option<i64> {
    let length = rest.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
    let (number, after) = rest.split_at_checked(length).filter(|_| length >= least)?;
    *rest = after;
    Some(number.iter().fold(0, |value, digit| value * 10 + i64::from(digit - b'0')))
}

fn named(rest: &mut &[u8]) -> Option<Month> {
    let (name, after) = rest.split_at_checked(3)?;
    let index = MONTHS.iter().position(|month| month.as_bytes() == name)?;
    *rest = after;
    Month::try_from(u8::try_from(index + 1).ok()?).ok()
}

fn zone(rest: &mut &[u8]) -> Option<i64> {
    let (sign, after) = rest.split_first()?;
    *rest = after;
    let sign = match sign {
        b'Z' => return Some(0),
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let hours = digits(rest, 2, 2)?;
    *rest = rest.strip_prefix(b":").unwrap_or(rest);
    Some(sign * (hours * 3600 + digits(rest, 2, 2)? * 60))
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pattern: &str, text: &str) -> Option<(u64, usize)> {
        Clock::new(pattern, "").unwrap().read(text.as_bytes())
    }

    #[test]
    fn the_same_moment_in_many_ways() {
        // date -u -d @971211336 is 2000-10-10 20:55:36 UTC.
        let second = 971_211_336_000_000_000;
        for (pattern, text) in [
            ("%d/%b/%Y:%H:%M:%S %z", "10/Oct/2000:13:55:36 -0700"),
            ("%Y-%m-%dT%H:%M:%S%z", "2000-10-10T22:55:36+02:00"),
            ("%FT%TZ", "2000-10-10T20:55:36Z"),
            ("%s", "971211336"),
        ] {
            assert_eq!(read(pattern, &format!("{text} more")), Some((second, text.len())), "{pattern}");
        }
        let milliseconds = Some((second + 589_000_000, 24));
        assert_eq!(read("%Y-%m-%dT%H:%M:%S.%3fZ", "2000-10-10T20:55:36.589Z"), milliseconds);
        assert_eq!(read("%Y-%m-%dT%H:%M:%E3SZ", "2000-10-10T20:55:36.589Z"), milliseconds);
        assert_eq!(read("%s.%3f", "971211336.589"), Some((second + 589_000_000, 13)));
        assert_eq!(read("%s.%9f", "971211336.000000001"), Some((second + 1, 19)));
    }

    #[test]
    fn what_is_no_time() {
        for text in [
            "",
            "10/Okt/2000:13:55:36 -0700",
            "32/Oct/2000:13:55:36 -0700",
            "10/Oct/2000:24:55:36 -0700",
            "10/Oct/2000:13:55:36",
        ] {
            assert_eq!(read("%d/%b/%Y:%H:%M:%S %z", text), None, "{text}");
        }
        assert_eq!(read("%FT%TZ", "1969-12-31T23:59:59Z"), None);
        for pattern in ["%Y", "%q", "%", "%3x", "%H:%M:%S"] {
            assert_eq!(Clock::new(pattern, ""), None, "{pattern}");
        }
    }
}
