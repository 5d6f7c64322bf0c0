//! Cache directives of requests (RFC 9111 section 5.2.1), which the operator may ignore.

use std::time::Duration;

use http_types::{
    HeaderMap,
    header::{CACHE_CONTROL, PRAGMA},
};

use crate::{cache_control::seconds, directives::directives};

/// The directives of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RequestDirectives {
    /// `no-cache`, or `Pragma: no-cache`.
    pub no_cache: bool,
    /// `no-store`.
    pub no_store: bool,
    /// `only-if-cached`.
    pub only_if_cached: bool,
    /// `max-age`.
    pub max_age: Option<Duration>,
    /// `max-stale`.
    pub max_stale: Option<Duration>,
    /// `min-fresh`.
    pub min_fresh: Option<Duration>,
}

impl RequestDirectives {
    /// Reads Cache-Control, or Pragma if there is no Cache-Control.
    pub fn read(headers: &HeaderMap) -> Self {
        let mut wishes = Self::default();
        if !headers.contains_key(CACHE_CONTROL) {
            wishes.no_cache =
                directives(headers, &PRAGMA).any(|found| found.name.eq_ignore_ascii_case("no-cache"));
            return wishes;
        }
        for directive in directives(headers, &CACHE_CONTROL) {
            let duration = || Some(seconds(directive.value.as_deref().unwrap_or_default()));
            match directive.name.to_ascii_lowercase().as_str() {
                "no-cache" => wishes.no_cache = true,
                "no-store" => wishes.no_store = true,
                "only-if-cached" => wishes.only_if_cached = true,
                "max-age" => wishes.max_age = duration(),
                "min-fresh" => wishes.min_fresh = duration(),
                "max-stale" if directive.value.is_none() => wishes.max_stale = Some(Duration::MAX),
                "max-stale" => wishes.max_stale = duration(),
                _ => {}
            }
        }
        wishes
    }

    /// Whether every stored response must be validated.
    pub fn wants_validation(&self) -> bool {
        self.no_cache || self.max_age == Some(Duration::ZERO)
    }

    /// Only the directives that always apply: only-if-cached.
    #[must_use]
    pub fn ignored(self) -> Self {
        Self { only_if_cached: self.only_if_cached, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use http_types::HeaderName;

    use super::*;

    fn read(name: &'static str, value: &str) -> RequestDirectives {
        RequestDirectives::read(
            &[(HeaderName::from_static(name), value.parse().unwrap())].into_iter().collect(),
        )
    }

    #[test]
    fn each_wish_is_read() {
        let wishes = read("cache-control", "max-age=0, min-fresh=5, max-stale, only-if-cached");
        let expected = RequestDirectives {
            max_age: Some(Duration::ZERO),
            min_fresh: Some(Duration::from_secs(5)),
            max_stale: Some(Duration::MAX),
            only_if_cached: true,
            ..RequestDirectives::default()
        };
        assert_eq!(wishes, expected);
        assert_eq!(
            wishes.ignored(),
            RequestDirectives { only_if_cached: true, ..RequestDirectives::default() }
        );
        assert!(read("pragma", "no-cache").no_cache);
        assert!(!read("pragma", "other").no_cache);
    }
}
