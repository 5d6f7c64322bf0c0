//! Conditional requests: those of clients that are answered with 304, and our own to origins (RFC 9110 section 13).

use http_types::{
    HeaderMap, HeaderValue, Method,
    header::{
        DATE, ETAG, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE, LAST_MODIFIED,
        RANGE,
    },
};

use crate::{Stored, Time, directives::elements};

/// Whether a client has what is stored already, so that 304 says it all.
pub fn is_not_modified(method: &Method, request: &HeaderMap, stored: &Stored) -> bool {
    if !matches!(*method, Method::GET | Method::HEAD) || !stored.status.is_success() {
        return false;
    }
    if request.contains_key(IF_NONE_MATCH) {
        let tag = stored.headers.get(ETAG).and_then(|tag| tag.to_str().ok());
        return elements(request, &IF_NONE_MATCH)
            .any(|candidate| candidate == "*" || tag.is_some_and(|tag| opaque(tag) == opaque(candidate)));
    }
    let Some(since) = Time::in_field(request, &IF_MODIFIED_SINCE) else { return false };
    // Without a date of its own, it was there when it was sent at the latest.
    let modified =
        Time::in_field(&stored.headers, &LAST_MODIFIED).or_else(|| Time::in_field(&stored.headers, &DATE));
    modified.is_some_and(|modified| modified <= since)
}

/// What says whether a stored response is still the current one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validators {
    etag: Option<HeaderValue>,
    modified: Option<HeaderValue>,
}

impl Validators {
    /// Those of a stored response, if it has any.
    pub fn of(stored: &Stored) -> Option<Self> {
        let etag = stored.headers.get(ETAG).cloned();
        let modified = stored.headers.get(LAST_MODIFIED).cloned();
        (etag.is_some() || modified.is_some()).then_some(Self { etag, modified })
    }

    /// Makes a request conditional, on these and nothing else.
    pub fn ask(&self, request: &mut HeaderMap) {
        make_unconditional(request);
        self.ask_first(request);
    }

    /// Makes a request conditional on these, and if that is not met, one for the parts that it names: conditions like these go before
    /// Range and If-Range (RFC 9110 section 13.2.2).
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

    /// Whether a 304 is about the response that has these: it names no other (RFC 9111 section 4.3.4).
    pub fn are_confirmed_by(&self, answer: &HeaderMap) -> bool {
        match (answer.get(ETAG), &self.etag) {
            (Some(theirs), Some(ours)) => theirs.to_str().ok().map(opaque) == ours.to_str().ok().map(opaque),
            _ => true,
        }
    }
}

/// Leaves a request that is answered with the whole response: what is asked of the origin is for all clients.
pub fn make_unconditional(request: &mut HeaderMap) {
    for name in [IF_MATCH, IF_NONE_MATCH, IF_MODIFIED_SINCE, IF_UNMODIFIED_SINCE, IF_RANGE, RANGE] {
        request.remove(name);
    }
}

/// An entity tag as the weak comparison takes it (RFC 9110 section 8.8.3.2).
fn opaque(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}

#[cfg(test)]
mod tests {
    use http_types::{HeaderName, StatusCode};

    use super::*;
    use crate::{Control, Selection, Terms};

    fn map(fields: &[(&'static str, &str)]) -> HeaderMap {
        fields.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    fn stored(fields: &[(&'static str, &str)]) -> Stored {
        let (headers, status, now) = (map(fields), StatusCode::OK, Time::from_millis(0));
        let terms = Terms::read(status, &headers, Control::default(), None, (now, now));
        Stored { status, headers, terms, selection: Selection::default() }
    }

    #[test]
    fn tags_are_compared_weakly_and_go_before_dates() {
        let object = stored(&[("etag", "\"a\""), ("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT")]);
        let is_304 = |fields: &[(&'static str, &str)]| is_not_modified(&Method::GET, &map(fields), &object);
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
        assert!(!is_not_modified(&Method::POST, &map(&[("if-none-match", "*")]), &object));
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
        assert!(validators.are_confirmed_by(&map(&[])));
        assert!(validators.are_confirmed_by(&map(&[("etag", "\"a\"")])));
        assert!(!validators.are_confirmed_by(&map(&[("etag", "\"b\"")])));
        assert_eq!(Validators::of(&stored(&[])), None);
    }
}
