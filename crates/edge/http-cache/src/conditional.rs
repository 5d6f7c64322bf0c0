//! Conditional requests of clients, and conditional requests to origins (RFC 9110 section 13).

use http_types::{
    HeaderMap, HeaderName, HeaderValue, Method, StatusCode,
    header::{
        DATE, ETAG, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE, LAST_MODIFIED,
        RANGE,
    },
};

use crate::{Stored, Time};

/// How a date in `If-Modified-Since` is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateMatch {
    /// The stored representation is not newer (RFC 9110 section 13.1.3).
    NotNewer,
    /// The dates are equal, because `Last-Modified` decreases if an origin reverts to an older
    /// file.
    Exact,
}

/// Whether a 304 can be sent, because the client has the stored representation.
pub fn is_not_modified(method: &Method, request: &HeaderMap, stored: &Stored, dates: DateMatch) -> bool {
    if !matches!(*method, Method::GET | Method::HEAD) || !stored.status.is_success() {
        return false;
    }
    if request.contains_key(IF_NONE_MATCH) {
        let mut lines = request.get_all(IF_NONE_MATCH).iter().map(|line| line.as_bytes().trim_ascii());
        if let (Some(b"*"), None) = (lines.next(), lines.next()) {
            return true;
        }
        let Some(tag) = stored.headers.get(ETAG) else { return false };
        let mut known = request.get_all(IF_NONE_MATCH).iter().flat_map(|line| tags(line.as_bytes()));
        return known.any(|known| opaque(known) == opaque(tag.as_bytes()));
    }
    let Some(since) = Time::in_field(request, &IF_MODIFIED_SINCE) else { return false };
    let modified = Time::in_field(&stored.headers, &LAST_MODIFIED);
    match dates {
        DateMatch::Exact => modified == Some(since),
        // Without Last-Modified, the Date is an upper limit.
        DateMatch::NotNewer => {
            modified.or_else(|| Time::in_field(&stored.headers, &DATE)).is_some_and(|date| date <= since)
        }
    }
}

/// The validators of a stored response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validators {
    etag: Option<HeaderValue>,
    modified: Option<HeaderValue>,
}

impl Validators {
    /// The validators of a stored response, if it has any.
    pub fn of(stored: &Stored) -> Option<Self> {
        let etag = stored.headers.get(ETAG).cloned();
        let modified = stored.headers.get(LAST_MODIFIED).cloned();
        (etag.is_some() || modified.is_some()).then_some(Self { etag, modified })
    }

    /// Makes a request conditional on these validators only.
    pub fn ask(&self, request: &mut HeaderMap) {
        make_unconditional(request);
        self.ask_first(request);
    }

    /// The same, but keeps Range and If-Range, which are evaluated later (RFC 9110 section 13.2.2).
    pub fn ask_first(&self, request: &mut HeaderMap) {
        for name in [IF_MATCH, IF_NONE_MATCH, IF_MODIFIED_SINCE, IF_UNMODIFIED_SINCE] {
            request.remove(name);
        }
        if let Some(etag) = &self.etag {
            request.insert(IF_NONE_MATCH, etag.clone());
        }
        if let Some(modified) = &self.modified {
            request.insert(IF_MODIFIED_SINCE, modified.clone());
        }
    }

    /// Whether a 304 confirms the response with these validators (RFC 9111 section 4.3.4).
    pub fn are_confirmed_by(&self, answer: &HeaderMap) -> bool {
        let is_date_confirmed = || match (answer.get(LAST_MODIFIED), &self.modified) {
            (Some(theirs), ours) => Some(theirs) == ours.as_ref(),
            (None, _) => !answer.contains_key(ETAG),
        };
        match (answer.get(ETAG), &self.etag) {
            // Origins that compress weaken the tag of a 200, but not that of a 304.
            (Some(theirs), Some(ours)) => opaque(theirs.as_bytes()) == opaque(ours.as_bytes()),
            (Some(theirs), None) if theirs.as_bytes().starts_with(b"\"") => false,
            (_, _) => is_date_confirmed(),
        }
    }
}

/// Removes conditions and ranges.
pub fn make_unconditional(request: &mut HeaderMap) {
    for name in [IF_MATCH, IF_NONE_MATCH, IF_MODIFIED_SINCE, IF_UNMODIFIED_SINCE, IF_RANGE, RANGE] {
        request.remove(name);
    }
}

/// Whether a 304 or 206 was requested (RFC 9110 sections 15.3.7 and 15.4.5).
pub fn is_solicited(request: &HeaderMap, status: StatusCode) -> bool {
    let has = |names: &[HeaderName]| names.iter().any(|name| request.contains_key(name));
    match status {
        StatusCode::NOT_MODIFIED => has(&[IF_NONE_MATCH, IF_MODIFIED_SINCE]),
        StatusCode::PARTIAL_CONTENT => has(&[RANGE]),
        _ => true,
    }
}

fn tags(mut rest: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        rest = rest.trim_ascii_start();
        while let Some(after) = rest.strip_prefix(b",") {
            rest = after.trim_ascii_start();
        }
        if rest.is_empty() {
            return None;
        }
        let quoted = opaque(rest).strip_prefix(b"\"");
        let end = match quoted.and_then(|inner| inner.iter().position(|&byte| byte == b'"')) {
            Some(length) => rest.len() - opaque(rest).len() + length + 2,
            None => rest.iter().position(|&byte| byte == b',').unwrap_or(rest.len()),
        };
        let (tag, after) = rest.split_at(end);
        rest = after;
        Some(tag.trim_ascii_end())
    })
}

/// The part that the weak comparison uses (RFC 9110 section 8.8.3.2).
fn opaque(tag: &[u8]) -> &[u8] {
    tag.strip_prefix(b"W/").unwrap_or(tag)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Control, Terms, VaryKey};

    fn map(fields: &[(&'static str, &str)]) -> HeaderMap {
        fields.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    fn stored(fields: &[(&'static str, &str)]) -> Stored {
        let (headers, status, now) = (map(fields), StatusCode::OK, Time::from_millis(0));
        let terms = Terms::read(status, &headers, Control::default(), None, (now, now));
        Stored { status, headers, terms, selection: VaryKey::default() }
    }

    #[test]
    fn tags_are_compared_weakly_and_go_before_dates() {
        let object = stored(&[("etag", "\"a\""), ("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT")]);
        let is_304 = |fields: &[(&'static str, &str)]| {
            is_not_modified(&Method::GET, &map(fields), &object, DateMatch::NotNewer)
        };
        for tags in ["\"a\"", "W/\"a\"", "\"x\", \"a\"", "*"] {
            assert!(is_304(&[("if-none-match", tags)]), "{tags}");
        }
        assert!(!is_304(&[
            ("if-none-match", "\"b\""),
            ("if-modified-since", "Sun, 06 Nov 1994 08:49:37 GMT")
        ]));
        assert!(is_304(&[("if-modified-since", "Sun, 06 Nov 1994 08:49:37 GMT")]));
        assert!(!is_304(&[("if-modified-since", "Sun, 06 Nov 1994 08:49:36 GMT")]));
        assert!(!is_304(&[("if-modified-since", "yesterday")]));
        let newer = map(&[("if-modified-since", "Sun, 06 Nov 1994 08:49:38 GMT")]);
        let is_304 = |dates| is_not_modified(&Method::GET, &newer, &object, dates);
        assert_eq!([DateMatch::NotNewer, DateMatch::Exact].map(is_304), [true, false]);
        assert!(!is_not_modified(
            &Method::POST,
            &map(&[("if-none-match", "*")]),
            &object,
            DateMatch::NotNewer
        ));
    }

    #[test]
    fn tags_are_compared_by_their_bytes() {
        let value = |bytes: &[u8]| HeaderValue::from_bytes(bytes).unwrap();
        type Lines<'l> = &'l [&'l [u8]];
        let cases: &[(&[u8], Lines<'_>, bool)] = &[
            (b"\"caf\xe9\"", &[b"\"caf\xe9\""], true),
            (b"\"caf\xe9\"", &[b"W/\"caf\xe9\""], true),
            (b"W/\"caf\xe9\"", &[b"\"caf\xe9\""], true),
            (b"\"caf\xe9\"", &[b"\"caf\xe8\""], false),
            (b"\"caf\xe9\"", &[b"\"x\"", b"\"y\", \"caf\xe9\""], true),
            (b"\"a\"", &[b"\"caf\xe9\", \"a\""], true),
            (b"\"a,b\"", &[b"\"x\", \"a,b\""], true),
            (b"\"a\"", &[b"\"b,\"a\""], false),
            (b"\"a\\\"", &[b"\"x\\\", \"a\\\""], true),
            (b"\"a\"", &[b",, \"a\" ,"], true),
            (b"\"a\"", &[b""], false),
            (b"\"a\"", &[b" * "], true),
            (b"\"a\"", &[b"\"x\", *"], false),
            (b"\"a\"", &[b"*", b"\"x\""], false),
            (b"\"*\"", &[b"\"*\""], true),
            (b"plain", &[b"\"x\", plain"], true),
            (b"\"a\"", &[b"w/\"a\""], false),
            (b"\"open", &[b"\"open"], true),
        ];
        for &(tag, lines, is_304) in cases {
            let mut object = stored(&[]);
            object.headers.insert(ETAG, value(tag));
            let mut request = HeaderMap::new();
            for line in lines {
                request.append(IF_NONE_MATCH, value(line));
            }
            assert_eq!(
                is_not_modified(&Method::GET, &request, &object, DateMatch::NotNewer),
                is_304,
                "{tag:?} {lines:?}"
            );
        }
        assert!(is_not_modified(
            &Method::GET,
            &map(&[("if-none-match", "*")]),
            &stored(&[]),
            DateMatch::NotNewer
        ));
        assert!(!is_not_modified(
            &Method::GET,
            &map(&[("if-none-match", "\"a\"")]),
            &stored(&[]),
            DateMatch::NotNewer
        ));
    }

    #[test]
    fn a_304_with_another_tag_beyond_ascii_confirms_nothing() {
        let mut object = stored(&[]);
        object.headers.insert(ETAG, HeaderValue::from_bytes(b"\"\xe9\"").unwrap());
        let validators = Validators::of(&object).unwrap();
        let cases: [(&[u8], bool); 3] = [(b"\"\xe9\"", true), (b"W/\"\xe9\"", true), (b"\"\xe8\"", false)];
        for (tag, is_confirmed) in cases {
            let mut answer = HeaderMap::new();
            answer.insert(ETAG, HeaderValue::from_bytes(tag).unwrap());
            assert_eq!(validators.are_confirmed_by(&answer), is_confirmed, "{tag:?}");
        }
    }

    #[test]
    fn a_304_answers_a_condition_and_a_206_a_range() {
        for (field, status, expected) in [
            (None, 304, false),
            (Some("if-none-match"), 304, true),
            (Some("if-modified-since"), 304, true),
            (Some("if-match"), 304, false),
            (Some("if-unmodified-since"), 304, false),
            (Some("range"), 304, false),
            (None, 206, false),
            (Some("range"), 206, true),
            (Some("if-range"), 206, false),
            (Some("if-none-match"), 206, false),
            (None, 200, true),
            (None, 416, true),
            (None, 412, true),
        ] {
            let request = map(&field.map(|name| (name, "x")).into_iter().collect::<Vec<_>>());
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(is_solicited(&request, status), expected, "{field:?} {status}");
        }
    }

    #[test]
    fn origins_are_asked_with_what_is_stored_and_not_with_what_clients_have() {
        let object = stored(&[("etag", "W/\"a\"")]);
        let mut request = map(&[("if-none-match", "\"b\""), ("range", "bytes=0-1"), ("foo", "1")]);
        let validators = Validators::of(&object).unwrap();
        validators.ask(&mut request);
        assert_eq!(request, map(&[("if-none-match", "W/\"a\""), ("foo", "1")]));
        let known = [("if-none-match", "\"b\""), ("if-match", "\"c\"")];
        let mut parts = map(&[known[0], known[1], ("range", "bytes=0-1"), ("if-range", "\"a\"")]);
        validators.ask_first(&mut parts);
        let asked = [("if-none-match", "W/\"a\""), ("range", "bytes=0-1"), ("if-range", "\"a\"")];
        assert_eq!(parts, map(&asked));
        assert_eq!(Validators::of(&stored(&[])), None);
    }

    #[test]
    fn a_304_with_another_validator_confirms_nothing() {
        let (strong, weak, date) = (("etag", "\"a\""), ("etag", "W/\"a\""), ("last-modified", "Mon"));
        let (other, later) = (("etag", "\"b\""), ("last-modified", "Tue"));
        for (ours, theirs, is_confirmed) in [
            (&[strong][..], &[][..], true),
            (&[strong], &[strong], true),
            (&[strong], &[weak], true),
            (&[weak], &[strong], true),
            (&[strong], &[other], false),
            (&[strong], &[strong, later], true),
            (&[strong], &[date], false),
            (&[strong, date], &[date], true),
            (&[strong, date], &[later], false),
            (&[date], &[], true),
            (&[date], &[date], true),
            (&[date], &[later], false),
            (&[date], &[strong], false),
            (&[date], &[strong, date], false),
            (&[date], &[weak], false),
            (&[date], &[weak, date], true),
        ] {
            let validators = Validators::of(&stored(ours)).unwrap();
            assert_eq!(validators.are_confirmed_by(&map(theirs)), is_confirmed, "{ours:?} {theirs:?}");
        }
    }
}
