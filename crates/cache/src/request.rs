//! What a request asks of caches (RFC 9111 section 5.2.1). A client may ask; whether it gets it is the operator's choice.

use std::time::Duration;

use http_types::{
    HeaderMap,
    header::{CACHE_CONTROL, PRAGMA},
};

use crate::{control::seconds, directives::directives};

/// The directives of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wishes {
    /// Not without asking the origin.
    pub no_cache: bool,
    /// Not kept.
    pub no_store: bool,
    /// From the cache or not at all.
    pub only_if_cached: bool,
    /// Not older than this.
    pub max_age: Option<Duration>,
    /// Stale by no more than this is fine.
    pub max_stale: Option<Duration>,
    /// Fresh for this much longer.
    pub min_fresh: Option<Duration>,
}

impl Wishes {
    /// Reads Cache-Control, or Pragma where there is none.
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

    /// Whether no stored response is enough, however new.
    pub fn wants_validation(&self) -> bool {
        self.no_cache || self.max_age == Some(Duration::ZERO)
    }

    /// What is left of them where the operator has decided not to follow clients: that no origin is asked.
    #[must_use]
    pub fn ignored(self) -> Self {
        Self { only_if_cached: self.only_if_cached, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use http_types::HeaderName;

    use super::*;

    fn read(name: &'static str, value: &str) -> Wishes {
        Wishes::read(&[(HeaderName::from_static(name), value.parse().unwrap())].into_iter().collect())
    }

    #[test]
    fn each_wish_is_read() {
        let wishes = read("cache-control", "max-age=0, min-fresh=5, max-stale, only-if-cached");
        let expected = Wishes {
            max_age: Some(Duration::ZERO),
            min_fresh: Some(Duration::from_secs(5)),
            max_stale: Some(Duration::MAX),
            only_if_cached: true,
            ..Wishes::default()
        };
        assert_eq!(wishes, expected);
        assert_eq!(wishes.ignored(), Wishes { only_if_cached: true, ..Wishes::default() });
        assert!(read("pragma", "no-cache").no_cache);
        assert!(!read("pragma", "other").no_cache);
    }
}
