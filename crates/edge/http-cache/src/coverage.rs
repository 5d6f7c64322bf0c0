//! Partially stored bodies, and the requests they can serve (RFC 9111 section 3.3).

use http_types::{HeaderMap, Method};

use crate::{
    DateMatch, Stored, is_not_modified,
    ranges::{self, Part, Wanted},
};

/// The stored bytes of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    length: u64,
    /// Ascending, with at least one missing byte between two parts.
    here: Vec<Part>,
}

/// How the stored bytes can serve a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Supply {
    /// Completely.
    Here,
    /// Completely except for one gap.
    AllBut(Gap),
    /// The request is forwarded.
    Elsewhere,
}

/// The missing bytes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// The requested part; `None` is the whole body.
    pub asked: Option<Part>,
    /// The missing part of it.
    pub missing: Part,
}

impl Coverage {
    /// No stored bytes of a body of this length.
    pub const fn of(length: u64) -> Self {
        Self { length, here: Vec::new() }
    }

    /// The length of the whole body.
    pub const fn length(&self) -> u64 {
        self.length
    }

    /// Whether all bytes are stored.
    pub fn is_whole(&self) -> bool {
        self.here.iter().map(|part| part.length()).sum::<u64>() == self.length
    }

    /// Adds bytes. Returns `false` if the part is outside the body, or if there would be too many
    /// parts.
    pub fn add(&mut self, part: Part) -> bool {
        let from = self.here.partition_point(|other| other.last + 1 < part.first);
        let to = self.here.partition_point(|other| other.first <= part.last.saturating_add(1));
        if part.last >= self.length || (from == to && self.here.len() >= MOST_PARTS) {
            return false;
        }
        let joined = self.here[from..to].iter().fold(part, |joined, other| Part {
            first: joined.first.min(other.first),
            last: joined.last.max(other.last),
        });
        self.here.splice(from..to, [joined]);
        true
    }

    /// The missing parts within a part, ascending.
    pub fn gaps(&self, within: Part) -> Vec<Part> {
        let (mut gaps, mut next) = (Vec::new(), within.first);
        let from = self.here.partition_point(|part| part.last < within.first);
        for part in self.here[from..].iter().take_while(|part| part.first <= within.last) {
            if next < part.first {
                gaps.push(Part { first: next, last: part.first - 1 });
            }
            next = part.last + 1;
        }
        if next <= within.last {
            gaps.push(Part { first: next, last: within.last });
        }
        gaps
    }

    /// How a request can be served; `stored` has the header of the response.
    pub fn supply(&self, method: &Method, request: &HeaderMap, stored: &Stored, dates: DateMatch) -> Supply {
        if *method != Method::GET {
            return Supply::Elsewhere;
        }
        if is_not_modified(method, request, stored, dates) {
            return Supply::Here;
        }
        let wanted = ranges::wanted(method, request, (stored.status, &stored.headers), self.length);
        let asked = match &wanted {
            Wanted::Whole => Part::whole(self.length),
            Wanted::Parts(parts) if parts.len() == 1 => parts.first().copied(),
            Wanted::Parts(parts) if parts.iter().all(|part| self.gaps(*part).is_empty()) => {
                return Supply::Here;
            }
            Wanted::Parts(_) | Wanted::Nothing => None,
        };
        let Some(part) = asked else { return Supply::Elsewhere };
        match self.gaps(part)[..] {
            [] => Supply::Here,
            [missing] if missing != part => {
                Supply::AllBut(Gap { asked: (wanted != Wanted::Whole).then_some(part), missing })
            }
            _ => Supply::Elsewhere,
        }
    }
}

const MOST_PARTS: usize = 256;

#[cfg(test)]
mod tests {
    use http_types::{HeaderName, StatusCode};
    use proptest::prelude::*;

    use super::*;
    use crate::{Control, Terms, Time, VaryKey};

    fn map(fields: &[(&'static str, &str)]) -> HeaderMap {
        fields.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    fn part(first: u64, last: u64) -> Part {
        Part { first, last }
    }

    /// Of a body of 100 bytes.
    fn covered(parts: &[(u64, u64)]) -> Coverage {
        let mut coverage = Coverage::of(100);
        assert!(parts.iter().all(|&(first, last)| coverage.add(part(first, last))));
        coverage
    }

    fn supply(coverage: &Coverage, fields: &[(&'static str, &str)]) -> Supply {
        let (headers, status, now) = (map(&[("etag", "\"a\"")]), StatusCode::OK, Time::from_millis(0));
        let terms = Terms::read(status, &headers, Control::default(), None, (now, now));
        let stored = Stored { status, headers, terms, selection: VaryKey::default() };
        coverage.supply(&Method::GET, &map(fields), &stored, DateMatch::NotNewer)
    }

    #[test]
    fn parts_that_touch_or_overlap_are_one() {
        for (parts, here) in [
            (&[(0, 9), (20, 29)][..], &[(0, 9), (20, 29)][..]),
            (&[(20, 29), (0, 9)], &[(0, 9), (20, 29)]),
            (&[(0, 9), (10, 19)], &[(0, 19)]),
            (&[(0, 9), (11, 19), (10, 10)], &[(0, 19)]),
            (&[(0, 9), (20, 29), (40, 49), (5, 44)], &[(0, 49)]),
            (&[(0, 49), (10, 19)], &[(0, 49)]),
        ] {
            let expected: Vec<_> = here.iter().map(|&(first, last)| part(first, last)).collect();
            assert_eq!(covered(parts).here, expected, "{parts:?}");
        }
        assert!(covered(&[(50, 99), (0, 49)]).is_whole() && !covered(&[(0, 98)]).is_whole());
    }

    #[test]
    fn what_is_not_of_the_body_or_too_much_is_refused() {
        assert!(!Coverage::of(100).add(part(90, 100)) && !Coverage::of(100).add(part(200, u64::MAX)));
        let mut many = Coverage::of(10_000);
        assert!((0..256).all(|number| many.add(part(2 * number, 2 * number))));
        assert!(!many.add(part(600, 600)));
        assert!(many.add(part(1, 1)) && many.add(part(600, 600)));
    }

    #[test]
    fn a_request_is_answered_from_what_is_here_or_with_one_gap() {
        let coverage = covered(&[(0, 39), (60, 79)]);
        let but = |first, last, missing: (u64, u64)| {
            Supply::AllBut(Gap { asked: Some(part(first, last)), missing: part(missing.0, missing.1) })
        };
        for (range, expected) in [
            ("bytes=0-39", Supply::Here),
            ("bytes=10-10, 60-70", Supply::Here),
            ("bytes=30-49", but(30, 49, (40, 49))),
            ("bytes=50-69", but(50, 69, (50, 59))),
            ("bytes=30-69", but(30, 69, (40, 59))),
            ("bytes=70-", but(70, 99, (80, 99))),
            ("bytes=0-", Supply::Elsewhere),
            ("bytes=40-59", Supply::Elsewhere),
            ("bytes=0-1, 50-51", Supply::Elsewhere),
            ("bytes=100-", Supply::Elsewhere),
        ] {
            assert_eq!(supply(&coverage, &[("range", range)]), expected, "{range}");
        }
    }

    #[test]
    fn the_whole_is_answered_with_one_gap_and_conditions_from_the_header() {
        let prefix = covered(&[(0, 39)]);
        let rest = Supply::AllBut(Gap { asked: None, missing: part(40, 99) });
        assert_eq!(supply(&prefix, &[]), rest);
        assert_eq!(supply(&prefix, &[("range", "bytes=0-9"), ("if-range", "\"b\"")]), rest);
        assert_eq!(supply(&prefix, &[("range", "bytes=0-9"), ("if-range", "\"a\"")]), Supply::Here);
        assert_eq!(supply(&prefix, &[("if-none-match", "\"a\"")]), Supply::Here);
        assert_eq!(supply(&covered(&[(0, 9), (20, 29)]), &[]), Supply::Elsewhere);
        assert_eq!(supply(&Coverage::of(100), &[]), Supply::Elsewhere);
        assert_eq!(supply(&Coverage::of(0), &[]), Supply::Elsewhere);
    }

    proptest! {
        #[test]
        fn each_byte_is_here_once_it_was_added_and_not_before(
            parts in prop::collection::vec((0_u64..64, 0_u64..64), 0..40),
            (first, last) in (0_u64..64, 0_u64..64),
        ) {
            let mut coverage = Coverage::of(60);
            let mut bytes = [false; 60];
            for (one, other) in parts {
                let added = part(one.min(other), one.max(other));
                let is_of_it = added.last < 60;
                prop_assert_eq!(coverage.add(added), is_of_it);
                if is_of_it {
                    (added.first..=added.last).for_each(|byte| bytes[usize::try_from(byte).unwrap()] = true);
                }
            }
            prop_assert_eq!(coverage.is_whole(), bytes.iter().all(|is_here| *is_here));
            let within = part(first.min(last).min(59), first.max(last).min(59));
            let missing: Vec<_> =
                coverage.gaps(within).iter().flat_map(|gap| gap.first..=gap.last).collect();
            let expected: Vec<_> =
                (within.first..=within.last).filter(|byte| !bytes[usize::try_from(*byte).unwrap()]).collect();
            prop_assert_eq!(missing, expected);
        }
    }
}
