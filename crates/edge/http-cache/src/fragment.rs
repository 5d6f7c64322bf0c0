//! A 206 with one part, and its representation (RFC 9110 section 15.3.7, RFC 9111 section 3.4).

use http_types::{
    HeaderMap, HeaderValue, StatusCode,
    header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, IF_RANGE},
};

use crate::{
    Stored,
    encoding::is_coded,
    ranges::{Part, announced},
};

/// Only parts of the same representation may be combined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Representation {
    /// A strong tag. A date is not sufficient: whether it is strong depends on two clocks.
    pub(crate) tag: HeaderValue,
    coding: Option<HeaderValue>,
    pub(crate) length: Option<u64>,
}

impl Representation {
    /// Nothing can be combined without a strong tag.
    pub(crate) fn of(whole: &HeaderMap) -> Option<Self> {
        let tag = strong_tag(whole)?.clone();
        Some(Self { tag, coding: coding(whole).cloned(), length: announced(whole) })
    }

    fn is_named_by(&self, headers: &HeaderMap) -> bool {
        headers.get(ETAG) == Some(&self.tag) && coding(headers) == self.coding.as_ref()
    }
}

/// A part of a representation in a response.
#[derive(Debug, Clone, Copy)]
pub struct Fragment<'r> {
    headers: &'r HeaderMap,
    /// The bytes.
    pub part: Part,
    /// The length of the whole representation.
    pub length: u64,
}

impl<'r> Fragment<'r> {
    /// Parses a header; `None` if it is not a single consistent part with a strong tag.
    pub fn read(status: StatusCode, headers: &'r HeaderMap) -> Option<Self> {
        let mut ranges = headers.get_all(CONTENT_RANGE).iter();
        let (part, length) = Part::read(ranges.next()?.to_str().ok()?)?;
        let is_one_part = ranges.next().is_none() && !is_multipart(headers);
        let is_as_long = announced(headers).is_none_or(|announced| announced == part.length());
        let is_partial = status == StatusCode::PARTIAL_CONTENT && strong_tag(headers).is_some();
        (is_partial && is_one_part && is_as_long).then_some(Self { headers, part, length })
    }

    /// Whether it may be combined with a stored response.
    pub fn is_of(&self, stored: &Stored) -> bool {
        Representation::of(&stored.headers).is_some_and(|representation| self.belongs_to(&representation))
    }

    pub(crate) fn belongs_to(&self, representation: &Representation) -> bool {
        representation.is_named_by(self.headers)
            && representation.length.is_none_or(|length| length == self.length)
    }

    /// Whether Content-Length equals the length in Content-Range. Otherwise the bytes must not be
    /// used before the end of the body.
    pub fn is_announced(&self) -> bool {
        announced(self.headers).is_some()
    }

    /// Derives the header of the whole response; `None` if the request had If-Range.
    pub fn whole(&self, request: &HeaderMap) -> Option<HeaderMap> {
        if request.contains_key(IF_RANGE) {
            return None;
        }
        let mut headers = self.headers.clone();
        headers.remove(CONTENT_RANGE);
        headers.insert(CONTENT_LENGTH, self.length.into());
        Some(headers)
    }
}

/// Whether a 206 is of the same representation.
pub fn is_same_representation(partial: &HeaderMap, stored: &Stored) -> bool {
    Representation::of(&stored.headers).is_some_and(|representation| representation.is_named_by(partial))
}

/// The fields of a 206 for the whole representation.
pub fn representation_fields(partial: &HeaderMap) -> HeaderMap {
    let mut fields = partial.clone();
    if is_multipart(partial) {
        fields.remove(CONTENT_TYPE);
    }
    fields
}

fn is_multipart(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().to_ascii_lowercase().starts_with(b"multipart/byteranges"))
}

fn coding(headers: &HeaderMap) -> Option<&HeaderValue> {
    headers.get(CONTENT_ENCODING).filter(|_| is_coded(headers))
}

fn strong_tag(headers: &HeaderMap) -> Option<&HeaderValue> {
    headers.get(ETAG).filter(|tag| tag.as_bytes().starts_with(b"\""))
}

#[cfg(test)]
mod tests {
    use http_types::HeaderName;

    use super::*;
    use crate::{Control, Terms, Time, VaryKey};

    fn map(fields: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        headers
    }

    fn stored(fields: &[(&'static str, &str)]) -> Stored {
        let (headers, status, now) = (map(fields), StatusCode::OK, Time::from_millis(0));
        let terms = Terms::read(status, &headers, Control::default(), None, (now, now));
        Stored { status, headers, terms, selection: VaryKey::default() }
    }

    const TAG: (&str, &str) = ("etag", "\"a\"");
    const RANGE: (&str, &str) = ("content-range", "bytes 2-4/10");

    #[test]
    fn only_one_part_of_what_has_a_strong_tag_is_a_fragment() {
        let length = ("content-length", "3");
        for (status, fields, is_fragment) in [
            (206, &[TAG, RANGE][..], true),
            (206, &[TAG, RANGE, length], true),
            (200, &[TAG, RANGE, length], false),
            (206, &[TAG, length], false),
            (206, &[RANGE, length], false),
            (206, &[("etag", "W/\"a\""), RANGE], false),
            (206, &[TAG, RANGE, ("content-length", "2")], false),
            (206, &[TAG, RANGE, ("content-range", "bytes 0-1/10")], false),
            (206, &[TAG, ("content-range", "bytes 2-4/*")], false),
            (206, &[TAG, ("content-range", "bytes 4-2/10")], false),
            (206, &[TAG, ("content-range", "bytes 2-10/10")], false),
            (206, &[TAG, RANGE, ("content-type", "Multipart/ByteRanges; boundary=x")], false),
        ] {
            let headers = map(fields);
            let fragment = Fragment::read(StatusCode::from_u16(status).unwrap(), &headers);
            assert_eq!(fragment.is_some(), is_fragment, "{status} {fields:?}");
        }
    }

    #[test]
    fn a_response_of_several_parts_updates_all_but_the_content_type() {
        let multipart = ("content-type", "multipart/byteranges; boundary=x");
        for (tag, coding, is_part) in [
            ("\"a\"", None, true),
            ("\"b\"", None, false),
            ("W/\"a\"", None, false),
            ("\"a\"", Some("gzip"), false),
        ] {
            let mut partial = map(&[("etag", tag), multipart, ("cache-control", "max-age=60")]);
            partial.extend(coding.map(|coding| (CONTENT_ENCODING, HeaderValue::from_static(coding))));
            assert_eq!(is_same_representation(&partial, &stored(&[TAG])), is_part, "{tag} {coding:?}");
            let fields = representation_fields(&partial);
            assert!(!fields.contains_key(CONTENT_TYPE) && fields.contains_key("cache-control"));
        }
        assert!(representation_fields(&map(&[("content-type", "text/css")])).contains_key(CONTENT_TYPE));
    }

    #[test]
    fn it_is_combined_with_what_has_the_same_tag_coding_and_length() {
        let headers = map(&[TAG, RANGE]);
        let fragment = Fragment::read(StatusCode::PARTIAL_CONTENT, &headers).unwrap();
        for (fields, may_be_combined) in [
            (&[TAG][..], true),
            (&[TAG, ("content-length", "10")], true),
            (&[TAG, ("content-length", "11")], false),
            (&[TAG, ("content-encoding", "gzip")], false),
            (&[TAG, ("content-encoding", "identity")], true),
            (&[TAG, ("content-encoding", "")], true),
            (&[("etag", "\"b\"")], false),
            (&[], false),
        ] {
            assert_eq!(fragment.is_of(&stored(fields)), may_be_combined, "{fields:?}");
        }
    }

    #[test]
    fn the_header_of_the_whole_is_known_from_an_answer_that_left_nothing_out() {
        let headers = map(&[TAG, RANGE, ("content-length", "3"), ("content-type", "a/b")]);
        let fragment = Fragment::read(StatusCode::PARTIAL_CONTENT, &headers).unwrap();
        let whole = map(&[TAG, ("content-length", "10"), ("content-type", "a/b")]);
        assert_eq!(fragment.whole(&map(&[("range", "bytes=2-4")])), Some(whole));
        assert_eq!(fragment.whole(&map(&[("if-range", "\"a\"")])), None);
        assert!(fragment.is_announced());
    }
}
