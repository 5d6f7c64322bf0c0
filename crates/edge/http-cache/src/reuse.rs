//! Reuse of stored responses (RFC 9111 section 4, RFC 5861).

use std::time::Duration;

use http_types::{
    HeaderMap, StatusCode,
    header::{AGE, HeaderValue},
};

use crate::{RequestDirectives, Terms, Time, VaryKey};

/// A stored response without its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The status.
    pub status: StatusCode,
    /// The received header, without fields of the connection.
    pub headers: HeaderMap,
    /// The conditions for its use.
    pub terms: Terms,
    /// The requests that it matches (Vary).
    pub selection: VaryKey,
}

/// How a stored response may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reuse {
    /// It is fresh and is served.
    Fresh,
    /// It is served while it is revalidated.
    WhileRevalidated,
    /// The client accepts a stale response (max-stale).
    Stale,
    /// It must be validated before use.
    Validate,
}

impl Stored {
    /// How it may be used for a request with these directives.
    pub fn reuse(&self, wishes: RequestDirectives, now: Time) -> Reuse {
        let Terms { control, .. } = &self.terms;
        let age = self.terms.age(now);
        if control.no_cache || wishes.no_cache || wishes.max_age.is_some_and(|oldest| age > oldest) {
            return Reuse::Validate;
        }
        if self.terms.is_fresh(now) {
            let left = self.terms.lifetime.saturating_sub(age);
            return if wishes.min_fresh.is_some_and(|least| left < least) {
                Reuse::Validate
            } else {
                Reuse::Fresh
            };
        }
        let is_within = |window: Option<Duration>| window.is_some_and(|window| self.is_within(window, now));
        // After a purge or an invalidation, all use requires validation.
        if control.forbids_stale() || self.terms.outdated.is_some() {
            return Reuse::Validate;
        }
        if wishes.max_age.is_none() && wishes.min_fresh.is_none() && is_within(control.stale_while_revalidate)
        {
            return Reuse::WhileRevalidated;
        }
        // s-maxage implies proxy-revalidate (RFC 9111 section 5.2.2.10).
        if control.s_maxage.is_none() && is_within(wishes.max_stale) {
            return Reuse::Stale;
        }
        Reuse::Validate
    }

    /// Whether it may be served instead of an error: by its stale-if-error, or the default.
    pub fn may_serve_stale(&self, operators: Duration, now: Time) -> bool {
        let Terms { control, .. } = &self.terms;
        let window = control.stale_if_error.unwrap_or(operators);
        if control.no_cache {
            return false;
        }
        let may_be_stale =
            !control.forbids_stale() && (control.s_maxage.is_none() || control.stale_if_error.is_some());
        self.terms.is_fresh(now) || (may_be_stale && self.is_within(window, now))
    }

    /// A window of zero never matches, even in the millisecond of a purge or after the clock was
    /// set back.
    fn is_within(&self, window: Duration, now: Time) -> bool {
        !window.is_zero() && self.terms.staleness(now) <= window
    }

    /// The header for a client, with Age.
    pub fn head(&self, now: Time) -> HeaderMap {
        let mut headers = self.headers.clone();
        headers.insert(AGE, HeaderValue::from(self.terms.age(now).as_secs()));
        headers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Control;

    fn stored(cache_control: &str) -> Stored {
        let headers: HeaderMap =
            [(http_types::header::CACHE_CONTROL, cache_control.parse().unwrap())].into_iter().collect();
        let (status, now) = (StatusCode::OK, Time::from_millis(0));
        let terms = Terms::read(status, &headers, Control::read(&headers, &[]), None, (now, now));
        Stored { status, headers, terms, selection: VaryKey::default() }
    }

    fn at(seconds: u64) -> Time {
        Time::from_millis(seconds * 1000)
    }

    #[test]
    fn time_decides_and_then_what_was_allowed() {
        let plain = RequestDirectives::default();
        let object = stored("max-age=10, stale-while-revalidate=5");
        let expected = [
            (9, Reuse::Fresh),
            (10, Reuse::WhileRevalidated),
            (15, Reuse::WhileRevalidated),
            (16, Reuse::Validate),
        ];
        for (second, reuse) in expected {
            assert_eq!(object.reuse(plain, at(second)), reuse, "after {second} s");
        }
        assert_eq!(stored("max-age=10, no-cache").reuse(plain, at(1)), Reuse::Validate);
    }

    #[test]
    fn clients_may_ask_for_more_or_for_less() {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        let object = stored("max-age=10");
        for (wishes, second, reuse) in [
            (RequestDirectives { max_age: seconds(3), ..RequestDirectives::default() }, 4, Reuse::Validate),
            (RequestDirectives { max_age: seconds(3), ..RequestDirectives::default() }, 3, Reuse::Fresh),
            (RequestDirectives { min_fresh: seconds(3), ..RequestDirectives::default() }, 8, Reuse::Validate),
            (RequestDirectives { max_stale: seconds(3), ..RequestDirectives::default() }, 13, Reuse::Stale),
            (
                RequestDirectives { max_stale: seconds(3), ..RequestDirectives::default() },
                14,
                Reuse::Validate,
            ),
            (RequestDirectives { no_cache: true, ..RequestDirectives::default() }, 1, Reuse::Validate),
        ] {
            assert_eq!(object.reuse(wishes, at(second)), reuse, "{wishes:?}");
        }
        let strict = stored("max-age=10, must-revalidate");
        assert_eq!(
            strict.reuse(RequestDirectives { max_stale: seconds(9), ..RequestDirectives::default() }, at(11)),
            Reuse::Validate
        );
    }

    #[test]
    fn instead_of_an_error_where_nothing_forbids_it() {
        let minute = Duration::from_secs(60);
        assert!(stored("max-age=10").may_serve_stale(minute, at(70)));
        assert!(!stored("max-age=10").may_serve_stale(minute, at(71)));
        assert!(stored("max-age=10, stale-if-error=90").may_serve_stale(Duration::ZERO, at(100)));
        assert!(!stored("max-age=10, must-revalidate").may_serve_stale(minute, at(11)));
        assert!(!stored("max-age=10, no-cache").may_serve_stale(minute, at(11)));
        assert!(!stored("s-maxage=10").may_serve_stale(minute, at(11)));
    }

    #[test]
    fn what_was_purged_this_moment_needs_leave_as_well() {
        let mut object = stored("max-age=10, stale-while-revalidate=0");
        assert!(object.may_serve_stale(Duration::ZERO, at(4)), "it is fresh");
        object.terms.outdated = Some(at(5));
        for now in [at(5), at(3)] {
            assert_eq!(object.terms.staleness(now), Duration::ZERO);
            assert_eq!(object.reuse(RequestDirectives::default(), now), Reuse::Validate);
            assert!(!object.may_serve_stale(Duration::ZERO, now));
            assert!(object.may_serve_stale(Duration::from_secs(1), now));
        }
    }

    #[test]
    fn the_head_has_its_age() {
        let mut object = stored("max-age=10");
        object.headers.insert(AGE, HeaderValue::from_static("700"));
        assert_eq!(object.head(at(3)).get(AGE), Some(&HeaderValue::from_static("3")));
    }

    #[test]
    fn must_revalidate_and_purges_exclude_each_stale_use() {
        let swr = "max-age=10, stale-while-revalidate=600, stale-if-error=600";
        let willing = RequestDirectives { max_stale: Some(Duration::MAX), ..RequestDirectives::default() };
        for (directives, plain, with_max_stale, on_failure) in [
            ("", Reuse::WhileRevalidated, Reuse::WhileRevalidated, true),
            (", s-maxage=10", Reuse::WhileRevalidated, Reuse::WhileRevalidated, true),
            (", must-revalidate", Reuse::Validate, Reuse::Validate, false),
            (", proxy-revalidate", Reuse::Validate, Reuse::Validate, false),
            (", no-cache", Reuse::Validate, Reuse::Validate, false),
        ] {
            let mut object = stored(&format!("{swr}{directives}"));
            assert_eq!(object.reuse(RequestDirectives::default(), at(20)), plain, "{directives}");
            assert_eq!(object.reuse(willing, at(20)), with_max_stale, "{directives}");
            assert_eq!(object.may_serve_stale(Duration::ZERO, at(20)), on_failure, "{directives}");
            object.terms.outdated = Some(at(5));
            assert_eq!(object.reuse(RequestDirectives::default(), at(6)), Reuse::Validate, "{directives}");
            assert_eq!(object.reuse(willing, at(6)), Reuse::Validate, "{directives}");
        }
        assert_eq!(stored("s-maxage=10").reuse(willing, at(20)), Reuse::Validate);
    }
}
