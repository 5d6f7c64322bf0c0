//! The log of purges. A response that was requested before a matching purge is never stored as
//! fresh, regardless of when it arrives.

mod normal;

use std::{borrow::Cow, collections::VecDeque};

use http_types::{HeaderMap, HeaderName, HeaderValue};

use crate::directives::elements;

pub use self::normal::{Nameless, host, prefix, tag, url};

/// The objects that a purge matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purge {
    /// One URL with all its variants.
    Url(String),
    /// Responses with this tag, in lower case.
    Tag(String),
    /// All URLs of a host.
    Host(String),
    /// All URLs with this prefix, such as "www.shop.example/img/".
    Prefix(String),
    /// A group (RFC 9875): scheme and authority, and the group.
    Group(String, String),
    /// All objects of a zone.
    Everything,
}

/// The effect of a purge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// Matching objects become stale and are revalidated.
    Soft,
    /// Matching objects are deleted.
    Hard,
}

/// The attributes of an object that purges match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// The zone of the object.
    pub zone: String,
    /// The URL, as in the key.
    pub url: String,
    /// The tags, in lower case.
    pub tags: Vec<String>,
    /// The groups.
    pub groups: Vec<String>,
}

impl Subject {
    /// Bytes of the tags and groups in memory.
    pub fn bytes(&self) -> usize {
        let names = self.tags.iter().chain(&self.groups).map(|name| 2 * (size_of::<String>() + name.len()));
        names.sum()
    }
}

/// A subject for comparison with many purges.
#[derive(Debug)]
pub struct Candidate<'s> {
    subject: &'s Subject,
    url: Cow<'s, str>,
}

impl Subject {
    /// Whether a purge in this zone matches the object.
    pub fn is_meant(&self, zone: &str, purge: &Purge) -> bool {
        self.zone == zone && self.candidate().is_named(&purge.clone().normal())
    }

    /// The URL in the normal form of purges.
    pub fn purge_url(&self) -> Cow<'_, str> {
        url(&self.url)
    }

    /// Prepares the comparison with many purges.
    pub fn candidate(&self) -> Candidate<'_> {
        Candidate { subject: self, url: self.purge_url() }
    }
}

impl Candidate<'_> {
    /// Whether a purge in this zone, in normal form, matches the object.
    pub fn is_meant(&self, zone: &str, purge: &Purge) -> bool {
        self.subject.zone == zone && self.is_named(purge)
    }

    fn is_named(&self, purge: &Purge) -> bool {
        let is_labelled = match purge {
            Purge::Tag(tag) => self.subject.tags.contains(tag),
            Purge::Group(_, group) => self.subject.groups.contains(group),
            _ => true,
        };
        is_labelled && purge.may_name(&self.url)
    }
}

impl Purge {
    /// The purge in normal form.
    #[must_use]
    pub fn normal(self) -> Self {
        match self {
            Self::Url(text) => Self::Url(url(&text).into_owned()),
            Self::Host(text) => Self::Host(normal::host_form(&text)),
            Self::Prefix(text) => Self::Prefix(normal::prefix_form(&text)),
            Self::Group(origin, group) => Self::Group(url(&origin).into_owned(), group),
            Self::Tag(_) | Self::Everything => self,
        }
    }

    /// Whether it may match the object of this URL.
    pub fn may_mean(&self, of: &str) -> bool {
        self.clone().normal().may_name(&url(of))
    }

    /// The same for a purge and a URL in normal form.
    pub fn may_name(&self, of: &str) -> bool {
        let without_scheme = of.split_once("://").map_or(of, |(_, rest)| rest);
        match self {
            Self::Url(url) => of == url,
            Self::Host(host) => normal::host_of(without_scheme) == host,
            Self::Prefix(prefix) => normal::begins(without_scheme, prefix),
            Self::Group(origin, _) => {
                let rest = of.strip_prefix(origin.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
            }
            Self::Tag(_) | Self::Everything => true,
        }
    }
}

/// The newest purges. Older objects are treated as purged.
#[derive(Debug, Default)]
pub struct Log {
    epoch: u64,
    entries: VecDeque<Entry>,
}

#[derive(Debug)]
struct Entry {
    epoch: u64,
    zone: String,
    purge: Purge,
    depth: Depth,
}

impl Log {
    /// The epoch of the newest purge; 0 before the first one.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Adds a purge and returns its epoch.
    pub fn add(&mut self, zone: &str, purge: Purge, depth: Depth) -> u64 {
        self.epoch += 1;
        let (zone, purge) = (zone.to_owned(), purge.normal());
        self.entries.push_back(Entry { epoch: self.epoch, zone, purge, depth });
        if self.entries.len() > REMEMBERED {
            self.entries.pop_front();
        }
        self.epoch
    }

    /// Adds a purge of an earlier run. Its epoch is the highest.
    pub fn again(&mut self, epoch: u64, zone: &str, purge: Purge, depth: Depth) {
        self.epoch = self.epoch.max(epoch.saturating_sub(1));
        self.add(zone, purge, depth);
    }

    /// The effect of all purges since epoch `began`, if any matches.
    pub fn since(&self, began: u64, subject: &Subject) -> Option<Depth> {
        let oldest = self.entries.front().map_or(self.epoch + 1, |entry| entry.epoch);
        if began + 1 < oldest {
            return Some(Depth::Hard);
        }
        if began >= self.epoch {
            return None;
        }
        let candidate = subject.candidate();
        let later = self.entries.iter().rev().take_while(|entry| entry.epoch > began);
        later.filter(|entry| candidate.is_meant(&entry.zone, &entry.purge)).map(|entry| entry.depth).max()
    }
}

/// The tags of a response: `Cache-Tag`, in lower case.
pub fn tags(response: &HeaderMap) -> Vec<String> {
    let mut bytes = 0;
    let tags = elements(response, &CACHE_TAG).take_while(|tag| {
        bytes += tag.len() + 1;
        bytes <= LONGEST_TAGS
    });
    tags.map(str::to_ascii_lowercase).collect()
}

/// Moves the keys of Fastly's and Varnish's `Surrogate-Key`, which are separated by spaces, to
/// `Cache-Tag`.
pub fn move_surrogate_keys(response: &mut HeaderMap) {
    if !response.contains_key(SURROGATE_KEY) {
        return;
    }
    let lines = response.get_all(SURROGATE_KEY).iter().filter_map(|line| line.to_str().ok());
    let keys: Vec<_> = lines.flat_map(str::split_ascii_whitespace).collect();
    let list = HeaderValue::from_str(&keys.join(","));
    response.remove(SURROGATE_KEY);
    if let Ok(list) = list {
        response.append(CACHE_TAG, list);
    }
}

/// A field with the tags of a response.
pub const SURROGATE_KEY: HeaderName = HeaderName::from_static("surrogate-key");

/// The field with the tags of a response.
pub const CACHE_TAG: HeaderName = HeaderName::from_static("cache-tag");

const LONGEST_TAGS: usize = 16 << 10;

/// Purges in the log. A response whose fetch spans more is not stored.
pub const REMEMBERED: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn subject() -> Subject {
        let [zone, url] = ["shop", "https://www.shop.example:8443/img/a?b"].map(str::to_owned);
        Subject { zone, url, tags: vec!["red".into()], groups: vec!["g".into()] }
    }

    #[test]
    fn each_kind_of_purge_names_what_it_should() {
        let text = str::to_owned;
        for (purge, is_named) in [
            (Purge::Url(text("https://www.shop.example:8443/img/a?b")), true),
            (Purge::Url(text("https://www.shop.example:8443/img/a")), false),
            (Purge::Tag(text("red")), true),
            (Purge::Tag(text("re")), false),
            (Purge::Host(text("www.shop.example")), true),
            (Purge::Host(text("www.shop")), false),
            (Purge::Prefix(text("www.shop.example:8443/img/")), true),
            (Purge::Prefix(text("www.shop.example:8443/js/")), false),
            (Purge::Group(text("https://www.shop.example:8443"), text("g")), true),
            (Purge::Group(text("https://www.shop.example"), text("g")), false),
            (Purge::Everything, true),
        ] {
            assert_eq!(subject().is_meant("shop", &purge), is_named, "{purge:?}");
            assert!(!subject().is_meant("other", &purge), "{purge:?}");
        }
    }

    #[test]
    fn a_purge_counts_for_what_was_asked_for_before_it() {
        let mut log = Log::default();
        assert_eq!(log.since(0, &subject()), None);
        let tag = log.add("shop", Purge::Tag("red".into()), Depth::Soft);
        log.add("shop", Purge::Tag("blue".into()), Depth::Hard);
        assert_eq!(log.since(0, &subject()), Some(Depth::Soft));
        assert_eq!(log.since(tag, &subject()), None);
        log.add("shop", Purge::Everything, Depth::Hard);
        assert_eq!(log.since(0, &subject()), Some(Depth::Hard));
    }

    #[test]
    fn what_is_older_than_the_log_is_gone() {
        let mut log = Log::default();
        for _ in 0..=REMEMBERED {
            log.add("other", Purge::Everything, Depth::Soft);
        }
        assert_eq!(log.since(0, &subject()), Some(Depth::Hard));
        assert_eq!(log.since(1, &subject()), None);
    }

    #[test]
    fn tags_are_read_in_lower_case_up_to_their_limit() {
        let response: HeaderMap =
            [(CACHE_TAG, format!("Red, {}, blue", "x".repeat(LONGEST_TAGS)).parse().unwrap())]
                .into_iter()
                .collect();
        assert_eq!(tags(&response), ["red"]);
    }

    #[test]
    fn surrogate_keys_are_tags() {
        let fields = [(SURROGATE_KEY, "Red  post-1"), (CACHE_TAG, "blue"), (SURROGATE_KEY, "x")];
        let mut response = HeaderMap::new();
        for (name, value) in fields {
            response.append(name, value.parse().unwrap());
        }
        move_surrogate_keys(&mut response);
        assert_eq!(tags(&response), ["blue", "red", "post-1", "x"]);
        assert!(!response.contains_key(SURROGATE_KEY));
    }
}
