//! Storability of responses (RFC 9111 section 3).

use std::fmt;

use http_types::{
    HeaderMap, HeaderName, Method, StatusCode,
    header::{AUTHORIZATION, CACHE_CONTROL, ETAG, EXPIRES, LAST_MODIFIED},
};

use crate::{
    RequestDirectives, SetCookie, Terms,
    freshness::{Lifetime, is_heuristically_cacheable},
};

/// Why a response is not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotStored {
    /// Responses to the method are not reusable.
    Method,
    /// The status is not cacheable.
    Status,
    /// The response has no-store.
    NoStore,
    /// The response has private.
    Private,
    /// The request has no-store.
    Client,
    /// The request has Authorization, and the response does not permit reuse.
    Authorization,
    /// `Vary: *`.
    Vary,
    /// The response sets a cookie.
    SetCookie,
    /// The response has neither a lifetime nor a validator.
    Unusable,
    /// The response exceeds a limit.
    TooLarge,
    /// The Content-Type does not fit the extension of the path.
    ContentType,
    /// A later request for it has already been completed.
    Superseded,
}

impl NotStored {
    /// The token for Cache-Status.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Method => "method",
            Self::Status => "status",
            Self::NoStore => "no-store",
            Self::Private => "private",
            Self::Client => "client-no-store",
            Self::Authorization => "authorization",
            Self::Vary => "vary",
            Self::SetCookie => "set-cookie",
            Self::Unusable => "no-lifetime",
            Self::TooLarge => "too-large",
            Self::ContentType => "content-type",
            Self::Superseded => "superseded",
        }
    }
}

impl fmt::Display for NotStored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Method => "responses to this method are not stored",
            Self::Status => "responses with this status are not stored",
            Self::NoStore => "the response has no-store",
            Self::Private => "the response has private",
            Self::Client => "the request has no-store",
            Self::Authorization => {
                "the request has Authorization, and the response does not permit reuse for other requests"
            }
            Self::Vary => "the response has Vary: *",
            Self::SetCookie => "the response sets a cookie",
            Self::Unusable => "it has neither a lifetime nor a validator",
            Self::TooLarge => "it is larger than the zone's limit or than the store",
            Self::ContentType => "its Content-Type does not fit the extension of its path",
            Self::Superseded => "the response to a later request arrived first",
        })
    }
}

/// Whether a response may be stored. That of a POST needs its own lifetime, and the request's URL
/// in Content-Location (RFC 9110 section 9.3.3).
///
/// # Errors
/// Returns the reason why it may not be stored.
pub fn may_store(
    (method, request): (&Method, &HeaderMap),
    wishes: RequestDirectives,
    (status, response): (StatusCode, &HeaderMap),
    terms: &Terms,
    cookies: SetCookie,
    is_own_location: bool,
) -> Result<(), NotStored> {
    let control = &terms.control;
    let is_ruled = terms.source == Lifetime::Rule;
    let is_explicit = !matches!(terms.source, Lifetime::None | Lifetime::Heuristic);
    match *method {
        Method::GET => {}
        Method::POST if is_own_location && is_explicit && !is_ruled && terms.source != Lifetime::Status => {}
        _ => return Err(NotStored::Method),
    }
    if status.is_informational() || matches!(status.as_u16(), 206 | 304 | 416) {
        return Err(NotStored::Status);
    }
    if control.must_understand && !is_understood(status) {
        return Err(NotStored::Status);
    }
    // The operator's rule overrides the response: the operator also controls the origin.
    if control.no_store && !control.must_understand && !is_ruled {
        return Err(NotStored::NoStore);
    }
    if control.private && !is_ruled {
        return Err(NotStored::Private);
    }
    if wishes.no_store {
        return Err(NotStored::Client);
    }
    if request.contains_key(AUTHORIZATION) && !control.allows_authorized() {
        return Err(NotStored::Authorization);
    }
    if cookies.forbids(response, control) && !is_ruled {
        return Err(NotStored::SetCookie);
    }
    let may_be_kept = is_explicit || control.public || is_heuristically_cacheable(status);
    let can_be_validated = response.contains_key(ETAG) || response.contains_key(LAST_MODIFIED);
    let is_of_use = can_be_validated || !(terms.lifetime.is_zero() || control.no_cache);
    if may_be_kept && is_of_use { Ok(()) } else { Err(NotStored::Unusable) }
}

/// Fast: whether a GET response is never stored if nothing overrides Cache-Control. `false`
/// requires a full evaluation.
pub fn is_never_stored<'f>(fields: impl IntoIterator<Item = (&'f str, &'f [u8])>) -> bool {
    let (mut is_forbidden, mut may_be_of_use) = (false, false);
    for (name, value) in fields {
        let is = |other: &HeaderName| name.eq_ignore_ascii_case(other.as_str());
        may_be_of_use |= is(&ETAG) || is(&LAST_MODIFIED) || is(&EXPIRES);
        if !is(&CACHE_CONTROL) {
            continue;
        }
        if value.iter().any(|&byte| byte == b'"' || !(b' '..=b'~').contains(&byte)) {
            return false;
        }
        // A lifetime contains this character.
        may_be_of_use |= value.contains(&b'=');
        for directive in value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii) {
            let is = |name: &[u8]| directive.eq_ignore_ascii_case(name);
            is_forbidden |= is(b"no-store") || is(b"private");
            if directive.get(..15).is_some_and(|name| name.eq_ignore_ascii_case(b"must-understand")) {
                return false;
            }
        }
    }
    is_forbidden || !may_be_of_use
}

/// The statuses of RFC 9110, except for partial content.
fn is_understood(status: StatusCode) -> bool {
    matches!(status.as_u16(), 200..=205 | 300..=305 | 307 | 308 | 400..=417 | 421 | 422 | 426 | 500..=505)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Control, Time};

    fn judged(
        method: &Method,
        request: &[(&'static str, &str)],
        status: u16,
        response: &[(&'static str, &str)],
    ) -> Result<(), NotStored> {
        let map = |fields: &[(&'static str, &str)]| -> HeaderMap {
            fields
                .iter()
                .map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()))
                .collect()
        };
        let (request, response) = (map(request), map(response));
        let status = StatusCode::from_u16(status).unwrap();
        let now = Time::from_millis(0);
        let terms = Terms::read(status, &response, Control::read(&response, &[]), None, (now, now));
        let cookies = SetCookie::default();
        may_store(
            (method, &request),
            RequestDirectives::read(&request),
            (status, &response),
            &terms,
            cookies,
            true,
        )
    }

    #[test]
    fn what_may_be_stored() {
        let fresh = ("cache-control", "max-age=60");
        let token = ("authorization", "x");
        assert_eq!(judged(&Method::GET, &[], 200, &[fresh]), Ok(()));
        assert_eq!(judged(&Method::GET, &[], 599, &[fresh]), Ok(()));
        assert_eq!(judged(&Method::GET, &[], 200, &[("etag", "\"a\"")]), Ok(()));
        assert_eq!(judged(&Method::POST, &[], 200, &[fresh]), Ok(()));
        assert_eq!(judged(&Method::GET, &[token], 200, &[("cache-control", "public, max-age=60")]), Ok(()));
        assert_eq!(judged(&Method::GET, &[token], 200, &[("cache-control", "s-maxage=60")]), Ok(()));
        assert_eq!(
            judged(&Method::GET, &[], 200, &[("cache-control", "max-age=60, no-store, must-understand")]),
            Ok(())
        );
    }

    #[test]
    fn a_rule_gives_a_post_no_lifetime() {
        let (request, response, now) = (HeaderMap::new(), HeaderMap::new(), Time::from_millis(0));
        let ttl = Some(std::time::Duration::from_secs(60));
        let terms = Terms::read(StatusCode::OK, &response, Control::default(), ttl, (now, now));
        let judged = |method: Method| {
            let of_response = (StatusCode::OK, &response);
            may_store(
                (&method, &request),
                RequestDirectives::default(),
                of_response,
                &terms,
                SetCookie::default(),
                true,
            )
        };
        assert_eq!([Method::GET, Method::POST].map(judged), [Ok(()), Err(NotStored::Method)]);
    }

    #[test]
    fn a_look_forbids_nothing_that_may_be_stored() {
        let directives = [
            "no-store",
            "NO-STORE",
            "private",
            "private=\"x\"",
            "private=x",
            "no-cache",
            "max-age=60",
            "public",
            "immutable",
            "must-understand",
            "Must-Understand=1",
            "a=\"no-store, private\"",
            "",
        ];
        let others = [
            ("etag", "\"a\""),
            ("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT"),
            ("expires", "Sun, 06 Nov 2094 08:49:37 GMT"),
            ("x", "y"),
        ];
        let mut found = [0; 2];
        for (first, second) in directives.iter().flat_map(|first| directives.map(|second| (first, second))) {
            for other in others {
                let line = format!("{first},{second}");
                let fields = [("cache-control", &line[..]), other];
                let is_never = is_never_stored(fields.map(|(name, value)| (name, value.as_bytes())));
                found[usize::from(is_never)] += 1;
                assert!(!is_never || judged(&Method::GET, &[], 200, &fields).is_err(), "{fields:?}");
            }
        }
        assert_eq!(found[1], (3 * 3 + 2 * 3 * 6) * 4 + 4 * 4);
        assert!(is_never_stored([("Cache-Control", &b"max-age=0"[..]), ("cache-control", b"no-store")]));
        assert!(!is_never_stored([("cache-control", &b"no-store\x80"[..])]));
    }

    #[test]
    fn what_may_not_and_why() {
        let fresh = ("cache-control", "max-age=60");
        for (expected, method, request, status, response) in [
            (NotStored::Method, Method::PUT, ("a", "b"), 200, fresh),
            (
                NotStored::Method,
                Method::POST,
                ("a", "b"),
                200,
                ("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT"),
            ),
            (NotStored::Status, Method::GET, ("a", "b"), 206, fresh),
            (
                NotStored::Status,
                Method::GET,
                ("a", "b"),
                599,
                ("cache-control", "max-age=60, no-store, must-understand"),
            ),
            (NotStored::NoStore, Method::GET, ("a", "b"), 200, ("cache-control", "max-age=60, no-store")),
            (NotStored::Private, Method::GET, ("a", "b"), 200, ("cache-control", "max-age=60, private")),
            (NotStored::Client, Method::GET, ("cache-control", "no-store"), 200, fresh),
            (NotStored::Authorization, Method::GET, ("authorization", "x"), 200, fresh),
            (NotStored::SetCookie, Method::GET, ("a", "b"), 200, ("set-cookie", "a=1")),
            (
                NotStored::Authorization,
                Method::GET,
                ("authorization", "x"),
                200,
                ("cache-control", "proxy-revalidate, max-age=60"),
            ),
            (NotStored::Unusable, Method::GET, ("a", "b"), 200, ("cache-control", "max-age=0")),
            (NotStored::Unusable, Method::GET, ("a", "b"), 201, ("etag", "\"a\"")),
        ] {
            assert_eq!(judged(&method, &[request], status, &[response]), Err(expected), "{expected}");
        }
    }
}
