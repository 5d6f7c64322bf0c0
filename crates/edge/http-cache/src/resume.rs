//! Requests for a missing part of a body, and the validation of the response (RFC 9110 section
//! 15.3.7.3, RFC 9111 section 3.4).

use http_types::{
    HeaderMap, HeaderValue, StatusCode,
    header::{IF_RANGE, RANGE},
};

use crate::{
    Stored,
    fragment::{Fragment, Representation},
    make_unconditional,
    ranges::{self, Part},
};

/// A missing part of a stored response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingRange {
    of: Representation,
    first: u64,
    /// `None` is the end of the body.
    last: Option<u64>,
}

impl MissingRange {
    /// The bytes after the first `received` ones; `None` if they cannot be combined.
    pub fn after(received: u64, stored: &Stored) -> Option<Self> {
        let of = Representation::of(&stored.headers)?;
        let is_missing = stored.status == StatusCode::OK && of.length.is_none_or(|length| received < length);
        is_missing.then_some(Self { of, first: received, last: None })
    }

    /// A part in the middle; `None` if it cannot be combined.
    pub fn between(missing: Part, stored: &Stored) -> Option<Self> {
        let last = Some(missing.last).filter(|last| ranges::announced(&stored.headers) != Some(last + 1));
        Some(Self { last, ..Self::after(missing.first, stored)? })
    }

    /// Sets the Range of a request, and removes all conditions.
    pub fn ask(&self, request: &mut HeaderMap) {
        make_unconditional(request);
        request.insert(IF_RANGE, self.of.tag.clone());
        let last = self.last.map_or_else(String::new, |last| last.to_string());
        if let Ok(range) = HeaderValue::from_str(&format!("bytes={}-{last}", self.first)) {
            request.insert(RANGE, range);
        }
    }

    /// The length of the whole, if the response contains exactly this part.
    pub fn is_in(&self, status: StatusCode, answer: &HeaderMap) -> Option<u64> {
        let fragment = Fragment::read(status, answer)?;
        let last = self.last.unwrap_or(fragment.length - 1);
        let is_it = fragment.part == Part { first: self.first, last } && fragment.belongs_to(&self.of);
        is_it.then_some(fragment.length)
    }
}

#[cfg(test)]
mod tests {
    use http_types::HeaderName;
    use proptest::prelude::*;

    use super::*;
    use crate::{Control, Terms, Time, VaryKey};

    fn map(fields: &[(&'static str, &str)]) -> HeaderMap {
        fields.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    fn after(received: u64, status: u16, fields: &[(&'static str, &str)]) -> Option<MissingRange> {
        let (headers, status, now) =
            (map(fields), StatusCode::from_u16(status).unwrap(), Time::from_millis(0));
        let terms = Terms::read(status, &headers, Control::default(), None, (now, now));
        MissingRange::after(received, &Stored { status, headers, terms, selection: VaryKey::default() })
    }

    #[test]
    fn only_to_what_has_a_strong_tag_something_is_joined() {
        let (tag, length) = (("etag", "\"a\""), ("content-length", "10"));
        assert!(after(4, 200, &[tag]).is_some() && after(4, 200, &[tag, length]).is_some());
        for (received, status, fields) in [
            (4, 200, &[length][..]),
            (4, 200, &[("etag", "W/\"a\"")]),
            (4, 200, &[("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT")]),
            (4, 404, &[tag]),
            (10, 200, &[tag, length]),
        ] {
            assert_eq!(after(received, status, fields), None, "{received} {status} {fields:?}");
        }
    }

    #[test]
    fn it_is_asked_for_on_condition_that_nothing_changed() {
        let mut request = map(&[("foo", "1"), ("if-none-match", "\"b\""), ("range", "bytes=0-1")]);
        after(4, 200, &[("etag", "\"a\"")]).unwrap().ask(&mut request);
        assert_eq!(request, map(&[("foo", "1"), ("range", "bytes=4-"), ("if-range", "\"a\"")]));
    }

    #[test]
    fn a_part_in_the_middle_is_asked_for_by_its_ends() {
        let (headers, status, now) =
            (map(&[("etag", "\"a\""), ("content-length", "10")]), StatusCode::OK, Time::from_millis(0));
        let terms = Terms::read(status, &headers, Control::default(), None, (now, now));
        let stored = Stored { status, headers, terms, selection: VaryKey::default() };
        for (first, last, range) in [(2, 4, "bytes=2-4"), (0, 8, "bytes=0-8"), (4, 9, "bytes=4-")] {
            let rest = MissingRange::between(Part { first, last }, &stored).unwrap();
            let mut request = HeaderMap::new();
            rest.ask(&mut request);
            assert_eq!(request, map(&[("range", range), ("if-range", "\"a\"")]));
            let answer =
                |first, last| map(&[("etag", "\"a\""), ("content-range", &Part { first, last }.label(10))]);
            assert_eq!(rest.is_in(StatusCode::PARTIAL_CONTENT, &answer(first, last)), Some(10));
            assert_eq!(rest.is_in(StatusCode::PARTIAL_CONTENT, &answer(first, last - 1)), None);
        }
    }

    #[test]
    fn what_is_joined_is_the_rest_of_the_same() {
        let tag = ("etag", "\"a\"");
        let announced = after(4, 200, &[tag, ("content-length", "10")]).unwrap();
        let open = after(4, 200, &[tag]).unwrap();
        let right = ("content-range", "bytes 4-9/10");
        let answered = |rest: &MissingRange, status, fields: &[(&'static str, &str)]| {
            rest.is_in(StatusCode::from_u16(status).unwrap(), &map(fields))
        };
        for rest in [&announced, &open] {
            assert_eq!(answered(rest, 206, &[tag, right]), Some(10));
            for (status, fields) in [
                (200, &[tag, right][..]),
                (206, &[right]),
                (206, &[tag]),
                (206, &[("etag", "\"b\""), right]),
                (206, &[("etag", "W/\"a\""), right]),
                (206, &[tag, right, ("content-encoding", "gzip")]),
                (206, &[tag, right, ("content-type", "multipart/byteranges; boundary=x")]),
                (206, &[tag, ("content-range", "bytes 3-9/10")]),
                (206, &[tag, ("content-range", "bytes 4-8/10")]),
                (206, &[tag, ("content-range", "bytes 4-9/*")]),
                (206, &[tag, ("content-range", "bytes 4-3/4")]),
                (206, &[tag, ("content-range", "bytes */10")]),
                (416, &[tag, ("content-range", "bytes */10")]),
            ] {
                assert_eq!(answered(rest, status, fields), None, "{status} {fields:?}");
            }
        }
        let longer = [tag, ("content-range", "bytes 4-10/11")];
        assert_eq!((answered(&announced, 206, &longer), answered(&open, 206, &longer)), (None, Some(11)));
        let coded = after(4, 200, &[tag, ("content-encoding", "br")]).unwrap();
        assert_eq!(answered(&coded, 206, &[tag, right]), None);
        assert_eq!(answered(&coded, 206, &[tag, right, ("content-encoding", "br")]), Some(10));
    }

    proptest! {
        #[test]
        fn any_content_range_is_read_without_panic(range in "(bytes )?[0-9*/ -]{0,45}") {
            let rest = after(4, 200, &[("etag", "\"a\"")]).unwrap();
            let answer = map(&[("etag", "\"a\""), ("content-range", range.trim())]);
            if let Some(length) = rest.is_in(StatusCode::PARTIAL_CONTENT, &answer) {
                prop_assert!(length > 4);
            }
        }
    }
}
