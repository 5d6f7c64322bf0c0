//! Freshness lifetime and age of a response (RFC 9111 section 4.2).

use std::time::Duration;

use http_types::{
    HeaderMap, StatusCode,
    header::{AGE, DATE, EXPIRES, LAST_MODIFIED},
};

use crate::{Control, Time, directives::elements};

/// The source of a freshness lifetime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    /// The operator's rule.
    Rule,
    /// The operator's default for responses with this status and without a lifetime.
    Status,
    /// `s-maxage`.
    SharedMaxAge,
    /// `max-age`.
    MaxAge,
    /// `Expires` minus `Date`.
    Expires,
    /// A tenth of the time between `Last-Modified` and `Date`.
    Heuristic,
    /// No lifetime.
    None,
}

impl Lifetime {
    /// A description for `explain` output.
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::Rule => "the rule's edge_ttl",
            Self::Status => "the zone's cache_statuses",
            Self::SharedMaxAge => "s-maxage",
            Self::MaxAge => "max-age",
            Self::Expires => "Expires less Date",
            Self::Heuristic => "a tenth of its age at Last-Modified",
            Self::None => "nothing: the response does not say how long it is fresh",
        }
    }
}

/// The conditions for the use of a stored response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// From the generation of the response at its origin.
    pub lifetime: Duration,
    /// The source of the lifetime.
    pub source: Lifetime,
    /// The age when it was received.
    pub initial_age: Duration,
    /// When it was received or last validated.
    pub received: Time,
    /// When a purge or an invalidation made it stale.
    pub outdated: Option<Time>,
    /// The cache directives of the response.
    pub control: Control,
}

impl Terms {
    /// Evaluates a response. `ttl` is the lifetime of the operator's rule, which overrides it.
    pub fn read(
        status: StatusCode,
        headers: &HeaderMap,
        control: Control,
        ttl: Option<Duration>,
        (requested, received): (Time, Time),
    ) -> Self {
        let (lifetime, source) = match ttl {
            Some(ttl) => (ttl, Lifetime::Rule),
            None => lifetime(status, headers, &control, received),
        };
        let initial_age = initial_age(headers, requested, received);
        Self { lifetime, source, initial_age, received, outdated: None, control }
    }

    /// Sets the lifetime of a response without one.
    #[must_use]
    pub fn or_default(self, ttl: Option<Duration>) -> Self {
        match ttl {
            Some(lifetime) if matches!(self.source, Lifetime::None | Lifetime::Heuristic) => {
                Self { lifetime, source: Lifetime::Status, ..self }
            }
            _ => self,
        }
    }

    /// The current age.
    pub fn age(&self, now: Time) -> Duration {
        self.initial_age.saturating_add(now.since(self.received))
    }

    /// Whether it is fresh.
    pub fn is_fresh(&self, now: Time) -> bool {
        // The clock may be set back, but a purged response stays stale.
        self.outdated.is_none() && self.lifetime > self.age(now)
    }

    /// How long it has been stale.
    pub fn staleness(&self, now: Time) -> Duration {
        let by_age = self.age(now).saturating_sub(self.lifetime);
        self.outdated.map_or(by_age, |from| by_age.max(now.since(from)))
    }

    /// Seconds until it becomes stale; negative if it is stale.
    pub fn seconds_left(&self, now: Time) -> i64 {
        let whole = |duration: Duration| i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
        if self.is_fresh(now) {
            whole(self.lifetime.saturating_sub(self.age(now)))
        } else {
            -whole(self.staleness(now))
        }
    }
}

/// The lifetime that a rule's `ttl` gives this status, as nginx's `proxy_cache_valid` and
/// Cloudflare; `None` if the rule does not apply.
pub fn rule_lifetime(status: StatusCode, ttl: Duration) -> Option<Duration> {
    match status.as_u16() {
        200 | 203 | 301 | 308 => Some(ttl),
        302 | 303 | 307 => Some(ttl.min(LONGEST_REDIRECT)),
        404 | 410 => Some(ttl.min(LONGEST_ABSENCE)),
        _ => None,
    }
}

fn lifetime(
    status: StatusCode,
    headers: &HeaderMap,
    control: &Control,
    received: Time,
) -> (Duration, Lifetime) {
    if let Some(s_maxage) = control.s_maxage {
        return (s_maxage, Lifetime::SharedMaxAge);
    }
    if let Some(max_age) = control.max_age {
        return (max_age, Lifetime::MaxAge);
    }
    let date = Time::in_field(headers, &DATE).unwrap_or(received);
    if headers.contains_key(EXPIRES) && control.target.is_none() {
        // An invalid date, especially "0", is in the past.
        let expires = Time::in_field(headers, &EXPIRES);
        return (expires.map_or(Duration::ZERO, |expires| expires.since(date)), Lifetime::Expires);
    }
    let modified = Time::in_field(headers, &LAST_MODIFIED).filter(|modified| *modified < date);
    match modified {
        Some(modified) if is_heuristically_cacheable(status) || control.public => {
            ((date.since(modified) / HEURISTIC_PART).min(LONGEST_HEURISTIC), Lifetime::Heuristic)
        }
        _ => (Duration::ZERO, Lifetime::None),
    }
}

/// RFC 9111 section 4.2.3.
fn initial_age(headers: &HeaderMap, requested: Time, received: Time) -> Duration {
    let apparent = Time::in_field(headers, &DATE).map_or(Duration::ZERO, |date| received.since(date));
    let told = elements(headers, &AGE).next().and_then(age_value).unwrap_or_default();
    apparent.max(told.saturating_add(received.since(requested)))
}

/// An Age that is not a number of seconds is ignored (RFC 9111 section 5.1).
fn age_value(text: &str) -> Option<Duration> {
    text.bytes().all(|digit| digit.is_ascii_digit()).then(|| crate::cache_control::seconds(text))
}

/// RFC 9110 section 15.1. A 206 is combined with the whole.
pub(crate) fn is_heuristically_cacheable(status: StatusCode) -> bool {
    matches!(status.as_u16(), 200 | 203 | 204 | 206 | 300 | 301 | 308 | 404 | 405 | 410 | 414 | 501)
}

/// Cloudflare's default for 302 and 303.
const LONGEST_REDIRECT: Duration = Duration::from_secs(20 * 60);

/// Cloudflare's default for 404 and 410.
const LONGEST_ABSENCE: Duration = Duration::from_secs(3 * 60);

/// "a typical setting of this fraction might be 10%" (RFC 9111 section 4.2.2).
const HEURISTIC_PART: u32 = 10;

const LONGEST_HEURISTIC: Duration = Duration::from_secs(86_400);

#[cfg(test)]
mod tests {
    use http_types::HeaderName;

    use super::*;

    const DAY: u64 = 784_111_777_000;

    fn terms(status: u16, fields: &[(&'static str, &str)]) -> Terms {
        let fields =
            fields.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
        let headers: HeaderMap = fields.collect();
        let control = Control::read(&headers, &[]);
        let (requested, received) = (Time::from_millis(DAY - 2_000), Time::from_millis(DAY));
        Terms::read(StatusCode::from_u16(status).unwrap(), &headers, control, None, (requested, received))
    }

    fn lifetime_s(status: u16, fields: &[(&'static str, &str)]) -> (u64, Lifetime) {
        let terms = terms(status, fields);
        (terms.lifetime.as_secs(), terms.source)
    }

    #[test]
    fn the_lifetime_is_that_of_the_most_specific_field() {
        let date = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
        let expires = ("expires", "Sun, 06 Nov 1994 08:50:37 GMT");
        assert_eq!(
            lifetime_s(200, &[("cache-control", "max-age=5, s-maxage=7"), expires]),
            (7, Lifetime::SharedMaxAge)
        );
        assert_eq!(lifetime_s(200, &[("cache-control", "max-age=5"), expires]), (5, Lifetime::MaxAge));
        assert_eq!(lifetime_s(200, &[date, expires]), (60, Lifetime::Expires));
        assert_eq!(lifetime_s(200, &[date, ("expires", "0")]), (0, Lifetime::Expires));
    }

    #[test]
    fn a_tenth_of_the_time_since_the_last_change_and_a_day_at_most() {
        let date = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
        let an_hour_before = ("last-modified", "Sun, 06 Nov 1994 07:49:37 GMT");
        assert_eq!(lifetime_s(200, &[date, an_hour_before]), (360, Lifetime::Heuristic));
        assert_eq!(lifetime_s(201, &[date, an_hour_before]), (0, Lifetime::None));
        assert_eq!(
            lifetime_s(599, &[date, an_hour_before, ("cache-control", "public")]),
            (360, Lifetime::Heuristic)
        );
        let years_before = ("last-modified", "Sun, 06 Nov 1983 07:49:37 GMT");
        assert_eq!(lifetime_s(200, &[date, years_before]), (86_400, Lifetime::Heuristic));
    }

    #[test]
    fn a_rule_keeps_pages_for_its_time_absences_for_minutes_and_errors_not_at_all() {
        let hour = Duration::from_secs(3600);
        let kept = |status: u16, ttl| {
            rule_lifetime(StatusCode::from_u16(status).unwrap(), ttl).map(|kept| kept.as_secs())
        };
        for (statuses, seconds) in [
            (&[200, 203, 301, 308][..], Some(3600)),
            (&[302, 303, 307], Some(1200)),
            (&[404, 410], Some(180)),
            (
                &[201, 204, 206, 300, 304, 400, 401, 403, 405, 416, 429, 451, 500, 501, 502, 503, 504, 599],
                None,
            ),
        ] {
            for &status in statuses {
                assert_eq!(kept(status, hour), seconds, "{status}");
                assert_eq!(kept(status, Duration::from_secs(1)), seconds.map(|_| 1), "{status}");
            }
        }
    }

    #[test]
    fn age_is_what_is_told_and_what_the_request_took_or_what_the_date_shows() {
        let age = |fields: &[(&'static str, &str)]| terms(200, fields).initial_age.as_secs();
        assert_eq!(age(&[]), 2);
        assert_eq!(age(&[("age", "30")]), 32);
        assert_eq!(age(&[("age", "30, 5")]), 32);
        for odd in ["-30", "30.0", "x", "30;a=b"] {
            assert_eq!(age(&[("age", odd)]), 2, "{odd}");
        }
        assert_eq!(age(&[("date", "Sun, 06 Nov 1994 08:48:37 GMT")]), 60);
    }

    #[test]
    fn it_is_fresh_for_less_than_its_lifetime_and_never_once_outdated() {
        let mut terms = terms(200, &[("cache-control", "max-age=10")]);
        let at = |seconds: u64| Time::from_millis(DAY + seconds * 1000);
        assert!(terms.is_fresh(at(7)));
        assert!(!terms.is_fresh(at(8)));
        assert_eq!([at(7), at(8), at(11)].map(|now| terms.seconds_left(now)), [1, 0, -3]);
        terms.outdated = Some(at(4));
        assert!(!terms.is_fresh(at(3)) && !terms.is_fresh(at(4)));
        assert_eq!(terms.staleness(at(6)).as_secs(), 2);
    }
}
