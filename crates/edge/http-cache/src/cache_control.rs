//! Cache directives of responses: Cache-Control, or the targeted field that overrides it (RFC
//! 9213).

use std::time::Duration;

use http_types::{HeaderMap, HeaderName, header::CACHE_CONTROL};
use sfv::{BareItem, ListEntry, Parser};

use crate::directives::{directives, misplaced};

/// The directives that shared caches understand (RFC 9111 section 5.2.2, RFC 5861, RFC 8246).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Control {
    /// The targeted field with these directives; `None` is Cache-Control.
    pub target: Option<HeaderName>,
    /// `no-store`.
    pub no_store: bool,
    /// `no-cache`: must be validated before each use.
    pub no_cache: bool,
    /// `private`: for a single client.
    pub private: bool,
    /// `public`: for all clients.
    pub public: bool,
    /// `must-revalidate`: never served stale.
    pub must_revalidate: bool,
    /// `proxy-revalidate`: never served stale by shared caches.
    pub proxy_revalidate: bool,
    /// `must-understand`: stored only by caches that implement the status.
    pub must_understand: bool,
    /// `no-transform`: forwarded unchanged.
    pub no_transform: bool,
    /// `immutable`: does not change while it is fresh.
    pub immutable: bool,
    /// `max-age`: the freshness lifetime.
    pub max_age: Option<Duration>,
    /// `s-maxage`: the freshness lifetime in shared caches.
    pub s_maxage: Option<Duration>,
    /// `stale-while-revalidate`: how long it may be stale during a revalidation.
    pub stale_while_revalidate: Option<Duration>,
    /// `stale-if-error`: how long it may be served instead of an error.
    pub stale_if_error: Option<Duration>,
    /// Fields in `private="…"` and `no-cache="…"`, which are not stored.
    pub withheld: Vec<HeaderName>,
}

impl Control {
    /// Reads the first valid field of `targets`, otherwise Cache-Control.
    pub fn read(headers: &HeaderMap, targets: &[HeaderName]) -> Self {
        let targeted = targets.iter().find_map(|target| Self::targeted(headers, target));
        targeted.unwrap_or_else(|| Self::general(headers))
    }

    /// Whether it contains a freshness lifetime.
    pub fn is_explicit(&self) -> bool {
        self.max_age.is_some() || self.s_maxage.is_some()
    }

    /// Whether it forbids all stale use (RFC 9111 sections 5.2.2.2 and 5.2.2.8).
    pub const fn forbids_stale(&self) -> bool {
        self.must_revalidate || self.proxy_revalidate
    }

    /// Whether a response to a request with Authorization may be reused (RFC 9111 section 3.5).
    pub const fn allows_authorized(&self) -> bool {
        self.public || self.must_revalidate || self.s_maxage.is_some()
    }

    fn general(headers: &HeaderMap) -> Self {
        let mut control = Self::default();
        for directive in directives(headers, &CACHE_CONTROL) {
            let value = directive.value.as_deref();
            match value {
                Some(names) if control.withhold(directive.name, names) => {}
                _ => control.add(directive.name, seconds(value.unwrap_or_default())),
            }
        }
        misplaced(headers, &CACHE_CONTROL).for_each(|word| control.restrict(word));
        control
    }

    /// A restriction applies in any syntax, and an invalid lifetime is 0 (RFC 9111 section 4.2.1).
    fn restrict(&mut self, word: &str) {
        if RESTRICTIONS.iter().any(|known| known.eq_ignore_ascii_case(word)) {
            self.add(word, Duration::ZERO);
        }
    }

    /// A structured field that is invalid, or whose lifetime is not an integer, is ignored.
    fn targeted(headers: &HeaderMap, target: &HeaderName) -> Option<Self> {
        let lines: Vec<_> = headers.get_all(target).iter().map(|line| line.as_bytes()).collect();
        if lines.is_empty() {
            return None;
        }
        let members: sfv::Dictionary = Parser::new(&lines.join(&b","[..])).parse().ok()?;
        let mut control = Self { target: Some(target.clone()), ..Self::default() };
        for (name, entry) in &members {
            let ListEntry::Item(item) = entry else { continue };
            match &item.bare_item {
                BareItem::Integer(seconds) => {
                    let seconds = u64::try_from(i64::from(*seconds)).unwrap_or(0);
                    control.add(name.as_str(), Duration::from_secs(seconds.min(LONGEST_S)));
                }
                BareItem::Boolean(true) if !is_lifetime(name.as_str()) => {
                    control.add(name.as_str(), Duration::ZERO);
                }
                BareItem::Boolean(false) => {}
                BareItem::String(names) if control.withhold(name.as_str(), names.as_str()) => {}
                _ if is_lifetime(name.as_str()) => return None,
                _ => control.add(name.as_str(), Duration::ZERO),
            }
        }
        (!members.is_empty()).then_some(control)
    }

    /// Returns whether it was `private="…"` or `no-cache="…"`.
    fn withhold(&mut self, name: &str, names: &str) -> bool {
        let is_qualified = name.eq_ignore_ascii_case("private") || name.eq_ignore_ascii_case("no-cache");
        let fields = || names.split(',').filter_map(|field| field.trim().parse::<HeaderName>().ok());
        if !is_qualified || fields().next().is_none() {
            return false;
        }
        self.withheld.extend(fields());
        true
    }

    fn add(&mut self, name: &str, duration: Duration) {
        match name.to_ascii_lowercase().as_str() {
            "no-store" => self.no_store = true,
            "no-cache" => self.no_cache = true,
            "private" => self.private = true,
            "public" => self.public = true,
            "must-revalidate" => self.must_revalidate = true,
            "proxy-revalidate" => self.proxy_revalidate = true,
            "must-understand" => self.must_understand = true,
            "no-transform" => self.no_transform = true,
            "immutable" => self.immutable = true,
            "max-age" => _ = self.max_age.get_or_insert(duration),
            "s-maxage" => _ = self.s_maxage.get_or_insert(duration),
            "stale-while-revalidate" => _ = self.stale_while_revalidate.get_or_insert(duration),
            "stale-if-error" => _ = self.stale_if_error.get_or_insert(duration),
            _ => {}
        }
    }
}

const RESTRICTIONS: [&str; 6] =
    ["no-store", "no-cache", "private", "must-revalidate", "proxy-revalidate", "max-age"];

fn is_lifetime(name: &str) -> bool {
    matches!(name, "max-age" | "s-maxage" | "stale-while-revalidate" | "stale-if-error")
}

/// Parses delta-seconds (RFC 9111 section 1.2.2). Invalid text is 0, which is stale.
pub(crate) fn seconds(text: &str) -> Duration {
    if text.is_empty() || !text.bytes().all(|digit| digit.is_ascii_digit()) {
        return Duration::ZERO;
    }
    Duration::from_secs(text.parse().unwrap_or(LONGEST_S).min(LONGEST_S))
}

/// RFC 9111 section 1.2.2.
const LONGEST_S: u64 = 1 << 31;

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: HeaderName = HeaderName::from_static("cdn-cache-control");

    fn read(fields: &[(&'static str, &str)]) -> Control {
        let fields =
            fields.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
        Control::read(&fields.collect(), &[TARGET])
    }

    fn seconds(seconds: u64) -> Option<Duration> {
        Some(Duration::from_secs(seconds))
    }

    #[test]
    fn directives_are_read_in_any_case_and_the_first_counts() {
        let control = read(&[("cache-control", "MaX-aGe=60, max-age=5, s-maxage=99999999999, No-CaChE")]);
        assert_eq!((control.max_age, control.s_maxage), (seconds(60), seconds(1 << 31)));
        assert!(control.no_cache && control.allows_authorized() && !control.no_store);
        assert!(!control.forbids_stale(), "s-maxage goes with stale-while-revalidate");
    }

    #[test]
    fn a_lifetime_that_is_no_number_is_over() {
        for value in ["max-age=-5", "max-age=60a", "max-age='60'", "max-age", "max-age=6.5", "max-age="] {
            assert_eq!(read(&[("cache-control", value)]).max_age, seconds(0), "{value}");
        }
    }

    #[test]
    fn a_restriction_counts_however_it_is_written() {
        for value in [
            "private; max-age=60",
            "max-age=60; private",
            "max-age=60 private",
            "max-age=60, \"private\"",
            "max-age=60, private=\"",
            "max-age=60, private=\"\"",
            "max-age=60, x=\"open, Private",
            "private max-age=60",
            "private, x=\"\u{e9}\"",
            "x=\u{e9}, private",
        ] {
            assert!(read(&[("cache-control", value)]).private, "{value}");
        }
        let mut latin = HeaderMap::new();
        latin.insert("cache-control", http_types::HeaderValue::from_bytes(b"private, x=\"\xe9\"").unwrap());
        assert!(Control::read(&latin, &[]).private);
        for value in
            ["x=\"private, no-store\", max-age=60", "max-age=60, x=private", "max-age=60, not-private"]
        {
            let control = read(&[("cache-control", value)]);
            assert!(!control.private && !control.no_store && control.max_age == seconds(60), "{value}");
        }
        for value in ["public; max-age=60", "max-age = 60", "\"max-age=60\""] {
            assert_eq!(read(&[("cache-control", value)]).max_age, seconds(0), "{value}");
        }
        assert_eq!(read(&[("cache-control", "max-age=60, public; max-age=5")]).max_age, seconds(60));
    }

    #[test]
    fn fields_can_be_withheld() {
        let control = read(&[("cache-control", "no-cache=\"a, b\", private=\"c\", max-age=1")]);
        assert!(!control.no_cache && !control.private);
        assert_eq!(control.withheld, ["a", "b", "c"].map(HeaderName::from_static));
    }

    #[test]
    fn a_targeted_field_goes_first_if_it_can_be_read() {
        let general = ("cache-control", "no-store");
        for (value, max_age, is_targeted) in [
            ("max-age=60", seconds(60), true),
            ("max-age=60, foo=bar", seconds(60), true),
            ("max-age=60, &&&&&", None, false),
            ("max-age=\"60\"", None, false),
            ("max-age", None, false),
            ("max-age=-1", seconds(0), true),
            ("", None, false),
        ] {
            let control = read(&[general, ("cdn-cache-control", value)]);
            assert_eq!((control.max_age, control.target.is_some()), (max_age, is_targeted), "{value}");
            assert_eq!(control.no_store, !is_targeted, "{value}");
        }
    }
}
