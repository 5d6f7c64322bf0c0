//! Range requests and Content-Range (RFC 9110 section 14).

use http_types::{
    HeaderMap, Method, StatusCode,
    header::{ACCEPT_ENCODING, CONTENT_LENGTH, DATE, ETAG, IF_RANGE, LAST_MODIFIED, RANGE, VARY},
};

use crate::{Time, directives::elements};

/// A range of bytes, inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The first byte, counted from 0.
    pub first: u64,
    /// The last byte, not before the first one.
    pub last: u64,
}

impl Part {
    /// `length` bytes from `first` on; `None` if `length` is 0 or the sum overflows.
    pub fn of(first: u64, length: u64) -> Option<Self> {
        Some(Self { first, last: first.checked_add(length.checked_sub(1)?)? })
    }

    /// All bytes of a body of this length; `None` if it is empty.
    pub fn whole(length: u64) -> Option<Self> {
        Self::of(0, length)
    }

    /// The bytes before this position.
    pub fn before(self, place: u64) -> Option<Self> {
        (self.first < place).then(|| Self { first: self.first, last: self.last.min(place - 1) })
    }

    /// The bytes after this position.
    pub fn behind(self, place: u64) -> Option<Self> {
        (place < self.last).then(|| Self { first: self.first.max(place + 1), last: self.last })
    }

    /// The number of bytes, at least one.
    pub const fn length(self) -> u64 {
        self.last - self.first + 1
    }

    /// The Content-Range for a body of this length.
    pub fn label(self, of: u64) -> String {
        format!("bytes {}-{}/{of}", self.first, self.last)
    }

    /// Parses a Content-Range into the part and the length of the whole; `None` if it is invalid or
    /// has no length.
    pub fn read(label: &str) -> Option<(Self, u64)> {
        let (part, of) = label.strip_prefix("bytes ")?.split_once('/')?;
        let (first, last) = part.split_once('-')?;
        let (first, last, of) = (exact(first)?, exact(last)?, exact(of)?);
        (first <= last && last < of && of <= LONGEST).then_some((Self { first, last }, of))
    }
}

/// The requested bytes of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// The whole body: there is no Range, or it is ignored.
    Whole,
    /// These parts, in this order; never empty.
    Parts(Vec<Part>),
    /// The range is unsatisfiable.
    Nothing,
}

/// The Content-Length of a response, if valid.
pub fn announced(response: &HeaderMap) -> Option<u64> {
    exact(response.get(CONTENT_LENGTH)?.to_str().ok()?)
}

/// Evaluates the Range of a request for a body of `length` bytes.
pub fn wanted(
    method: &Method,
    request: &HeaderMap,
    (status, response): (StatusCode, &HeaderMap),
    length: u64,
) -> Wanted {
    let Some(range) = request.get(RANGE).and_then(|range| range.to_str().ok()) else { return Wanted::Whole };
    let counts = *method == Method::GET && status == StatusCode::OK && is_current(request, response);
    match parse(range) {
        Some(asked) if counts => satisfy(&asked, length),
        _ => Wanted::Whole,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    From { first: u64, last: Option<u64> },
    Last(u64),
}

/// Such as `bytes=0-1, 5-, -3`; `None` if the syntax is invalid or there are too many parts.
fn parse(range: &str) -> Option<Vec<Asked>> {
    let (unit, set) = range.split_once('=')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    let asked = set.split(',').map(str::trim).filter(|element| !element.is_empty()).map(|element| {
        let (first, last) = element.split_once('-')?;
        match (first, last) {
            ("", last) => Some(Asked::Last(number(last)?)),
            (first, "") => Some(Asked::From { first: number(first)?, last: None }),
            (first, last) => {
                let (first, last) = (number(first)?, number(last)?);
                (first <= last).then_some(Asked::From { first, last: Some(last) })
            }
        }
    });
    let asked: Vec<_> = asked.take(MOST_PARTS + 1).collect::<Option<_>>()?;
    (1..=MOST_PARTS).contains(&asked.len()).then_some(asked)
}

/// Numbers above 2^64 - 1 are clamped, as they exceed all lengths.
fn number(text: &str) -> Option<u64> {
    is_number(text).then(|| text.parse().unwrap_or(u64::MAX))
}

/// `None` above 2^64 - 1.
fn exact(text: &str) -> Option<u64> {
    text.parse().ok().filter(|_| is_number(text))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit())
}

fn satisfy(asked: &[Asked], length: u64) -> Wanted {
    let parts = asked.iter().filter_map(|asked| {
        let (first, last) = match *asked {
            Asked::From { first, last } => (first, last.unwrap_or(u64::MAX)),
            Asked::Last(0) => return None,
            Asked::Last(count) => (length.saturating_sub(count), u64::MAX),
        };
        (first < length).then(|| Part { first, last: last.min(length - 1) })
    });
    let parts: Vec<_> = parts.collect();
    if parts.is_empty() {
        return Wanted::Nothing;
    }
    // Overlapping parts would send bytes repeatedly (RFC 9110 section 14.2).
    let is_greedy = parts.iter().map(|part| u128::from(part.length())).sum::<u128>() > u128::from(length);
    if is_greedy { Wanted::Whole } else { Wanted::Parts(parts) }
}

/// By strong comparison (RFC 9110 section 13.1.5).
fn is_current(request: &HeaderMap, response: &HeaderMap) -> bool {
    let Some(condition) = request.get(IF_RANGE) else { return true };
    if request.get_all(IF_RANGE).iter().count() > 1 {
        return false;
    }
    if condition.as_bytes().starts_with(b"\"") {
        return response.get(ETAG) == Some(condition);
    }
    let Ok(condition) = condition.to_str() else { return false };
    let modified = Time::in_field(response, &LAST_MODIFIED);
    // A date is strong only if the response cannot have changed within the same second.
    let is_strong = match (modified, Time::in_field(response, &DATE)) {
        (Some(modified), Some(date)) => date.since(modified).as_secs() >= 1,
        _ => false,
    };
    is_strong
        && !is_one_of_several_codings(response)
        && Time::parse(condition).is_some()
        && Time::parse(condition) == modified
}

/// Codings share the date, so it is a weak validator (RFC 9110 section 8.8.1).
fn is_one_of_several_codings(response: &HeaderMap) -> bool {
    elements(response, &VARY).any(|name| name == "*" || name.eq_ignore_ascii_case(ACCEPT_ENCODING.as_str()))
}

const LONGEST: u64 = u64::MAX >> 1;

const MOST_PARTS: usize = 32;

#[cfg(test)]
mod tests {
    use http_types::HeaderName;
    use proptest::prelude::*;

    use super::*;

    fn of_ten(range: &str) -> Wanted {
        parse(range).map_or(Wanted::Whole, |asked| satisfy(&asked, 10))
    }

    fn parts(parts: &[(u64, u64)]) -> Wanted {
        Wanted::Parts(parts.iter().map(|&(first, last)| Part { first, last }).collect())
    }

    #[test]
    fn ranges_are_cut_to_the_body() {
        for (range, expected) in [
            ("bytes=0-1", parts(&[(0, 1)])),
            ("bytes=1-", parts(&[(1, 9)])),
            ("bytes=-1", parts(&[(9, 9)])),
            ("bytes=-20", parts(&[(0, 9)])),
            ("bytes=8-99999999999999999999999", parts(&[(8, 9)])),
            ("Bytes = 0-0, 5-6, -1", parts(&[(0, 0), (5, 6), (9, 9)])),
            ("bytes=20-, 3-4", parts(&[(3, 4)])),
            ("bytes=10-", Wanted::Nothing),
            ("bytes=-0", Wanted::Nothing),
        ] {
            assert_eq!(of_ten(range), expected, "{range}");
        }
    }

    #[test]
    fn a_part_is_what_is_before_a_place_the_place_and_what_is_behind_it() {
        let part = |first, last| Some(Part { first, last });
        let five = Part { first: 3, last: 7 };
        for (place, before, behind) in [
            (0, None, part(3, 7)),
            (3, None, part(4, 7)),
            (5, part(3, 4), part(6, 7)),
            (7, part(3, 6), None),
            (9, part(3, 7), None),
        ] {
            assert_eq!((five.before(place), five.behind(place)), (before, behind), "{place}");
        }
        assert_eq!((Part::of(3, 5), Part::of(3, 0), Part::of(2, u64::MAX)), (Some(five), None, None));
    }

    #[test]
    fn a_label_is_understood_if_a_body_can_be_as_long() {
        for (label, expected) in [
            ("bytes 0-999/1000", Some((0, 999, 1000))),
            ("bytes 0-9/9223372036854775807", Some((0, 9, LONGEST))),
            ("bytes 0-9/9223372036854775808", None),
            ("bytes 0-9/18446744073709551615", None),
            ("bytes 0-9/18446744073709551616", None),
            ("bytes 0-9/99999999999999999999999", None),
            ("bytes 18446744073709551616-18446744073709551617/18446744073709551618", None),
            ("bytes 0-9/*", None),
            ("bytes 0-9/+10", None),
            ("bytes 0-9/10 ", None),
            ("bytes -9/10", None),
            ("bytes */10", None),
        ] {
            let read = Part::read(label).map(|(part, of)| (part.first, part.last, of));
            assert_eq!(read, expected, "{label}");
        }
    }

    #[test]
    fn a_length_is_announced_by_digits_alone() {
        for (length, expected) in [
            ("0", Some(0)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("+5", None),
            ("5, 5", None),
            ("", None),
        ] {
            let headers = HeaderMap::from_iter([(CONTENT_LENGTH, length.parse().unwrap())]);
            assert_eq!(announced(&headers), expected, "{length:?}");
        }
    }

    #[test]
    fn a_condition_holds_for_the_same_bytes_alone() {
        const MODIFIED: &[u8] = b"Sun, 06 Nov 1994 08:49:37 GMT";
        type Fields = &'static [(&'static str, &'static [u8])];
        let tag: Fields = &[("etag", b"\"caf\xe9\"")];
        let dated: Fields = &[("last-modified", MODIFIED), ("date", b"Sun, 06 Nov 1994 09:00:00 GMT")];
        let same_second: Fields = &[("last-modified", MODIFIED), ("date", MODIFIED)];
        let map = |fields: Fields, vary: Option<&'static str>| -> HeaderMap {
            let vary = vary.map(|names| ("vary", names.as_bytes()));
            let fields = fields.iter().copied().chain(vary);
            fields.map(|(name, value)| (HeaderName::from_static(name), value.try_into().unwrap())).collect()
        };
        let cases: [(HeaderMap, &[u8], bool); 16] = [
            (map(tag, None), b"\"caf\xe9\"", true),
            (map(tag, None), b"\"caf\xe8\"", false),
            (map(tag, None), b"W/\"caf\xe9\"", false),
            (map(&[("etag", b"W/\"a\"")], None), b"W/\"a\"", false),
            (map(&[("etag", b"W/\"a\"")], None), b"\"a\"", false),
            (map(tag, Some("accept-encoding")), b"\"caf\xe9\"", true),
            (map(dated, None), MODIFIED, true),
            (map(dated, Some("cookie")), MODIFIED, true),
            (map(dated, Some("cookie, Accept-Encoding")), MODIFIED, false),
            (map(dated, Some("*")), MODIFIED, false),
            (map(dated, None), b"Sun, 06 Nov 1994 08:49:38 GMT", false),
            (map(dated, None), b"Sun, 06 Nov 1994 08:49:36 GMT", false),
            (map(dated, None), b"caf\xe9", false),
            (map(dated, None), b"", false),
            (map(same_second, None), MODIFIED, false),
            (map(&[], None), b"", false),
        ];
        for (response, condition, holds) in cases {
            let request = HeaderMap::from_iter([
                (RANGE, "bytes=0-1".parse().unwrap()),
                (IF_RANGE, condition.try_into().unwrap()),
            ]);
            let wanted = wanted(&Method::GET, &request, (StatusCode::OK, &response), 10);
            assert_eq!(wanted != Wanted::Whole, holds, "{response:?} {condition:?}");
        }
    }

    #[test]
    fn what_is_not_a_range_or_too_much_of_it_is_the_whole() {
        for range in [
            "bytes=",
            "bytes=2-1",
            "bytes=a-b",
            "bytes=-",
            "lines=1-2",
            "bytes",
            "bytes=0-9, 0-9",
            "bytes=+1-2",
        ] {
            assert_eq!(of_ten(range), Wanted::Whole, "{range}");
        }
        assert_eq!(of_ten(&format!("bytes={}", ["0-0"; 33].join(","))), Wanted::Whole);
    }

    proptest! {
        #[test]
        fn no_part_is_outside_the_body(set in "[0-9,-]{0,40}", length in 0_u64..100) {
            if let Some(asked) = parse(&format!("bytes={set}"))
                && let Wanted::Parts(parts) = satisfy(&asked, length)
            {
                prop_assert!(parts.iter().all(|part| part.first <= part.last && part.last < length));
                prop_assert!(parts.iter().map(|part| part.length()).sum::<u64>() <= length);
            }
        }
    }
}
