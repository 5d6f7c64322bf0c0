//! The log of purges: each has a place in it, its epoch, and an object that was asked for before a purge that names it is never
//! stored as fresh, however late it arrives.

mod normal;

use std::{borrow::Cow, collections::VecDeque};

use http_types::{HeaderMap, HeaderName};

use crate::directives::elements;

pub use self::normal::{Nameless, host, prefix, tag, url};

/// What is to be forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purge {
    /// One URL, all its variants.
    Url(String),
    /// What an origin gave this tag, in lower case.
    Tag(String),
    /// All of a host.
    Host(String),
    /// All URLs whose host and path begin so: "www.shop.example/img/".
    Prefix(String),
    /// A group of one origin's responses (RFC 9875): scheme and authority, and the group.
    Group(String, String),
    /// All.
    Everything,
}

/// How a purge is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// What is named is stale from now on: its origin is asked whether it has changed.
    Soft,
    /// What is named is gone.
    Hard,
}

/// What a purge is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// The zone that the object belongs to.
    pub zone: String,
    /// Its URL, as in its key.
    pub url: String,
    /// In lower case.
    pub tags: Vec<String>,
    /// Its groups.
    pub groups: Vec<String>,
}

impl Subject {
    /// The bytes of its tags and groups, each of which is in an index too.
    pub fn bytes(&self) -> usize {
        let names = self.tags.iter().chain(&self.groups).map(|name| 2 * (size_of::<String>() + name.len()));
        names.sum()
    }
}

/// A subject with its URL in the form in which purges are compared, made once for many purges.
#[derive(Debug)]
pub struct Candidate<'s> {
    subject: &'s Subject,
    url: Cow<'s, str>,
}

impl Subject {
    /// Whether a purge in this zone means it.
    pub fn is_meant(&self, zone: &str, purge: &Purge) -> bool {
        self.zone == zone && self.candidate().is_named(&purge.clone().normal())
    }

    /// Its URL in the form in which purges are compared.
    pub fn purge_url(&self) -> Cow<'_, str> {
        url(&self.url)
    }

    /// For a comparison with many purges.
    pub fn candidate(&self) -> Candidate<'_> {
        Candidate { subject: self, url: self.purge_url() }
    }
}

impl Candidate<'_> {
    /// Whether a purge in this zone, in normal form, means it.
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
    /// The same purge in the form in which purges are compared. Purges of clients, files and other data centres need it.
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

    /// Whether it means the object of this URL, or may mean it: tags and groups are known from a response only.
    pub fn may_mean(&self, of: &str) -> bool {
        self.clone().normal().may_name(&url(of))
    }

    /// The same, if it and the URL are in normal form.
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

/// The purges in their order. The newest are kept; what is older than those is unknown, and so counts against an object.
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
    /// The place of the newest purge; 0 before the first.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Adds a purge and returns its place.
    pub fn add(&mut self, zone: &str, purge: Purge, depth: Depth) -> u64 {
        self.epoch += 1;
        let (zone, purge) = (zone.to_owned(), purge.normal());
        self.entries.push_back(Entry { epoch: self.epoch, zone, purge, depth });
        if self.entries.len() > REMEMBERED {
            self.entries.pop_front();
        }
        self.epoch
    }

    /// Adds one that was done before with this place, later than all that are here: by another run of the same cache.
    pub fn again(&mut self, epoch: u64, zone: &str, purge: Purge, depth: Depth) {
        self.epoch = self.epoch.max(epoch.saturating_sub(1));
        self.add(zone, purge, depth);
    }

    /// What has happened to an object since the epoch at which it was asked for; `None` if nothing has.
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

/// The tags that an origin gives a response: `Cache-Tag`, separated by commas, in lower case.
pub fn tags(response: &HeaderMap) -> Vec<String> {
    let mut bytes = 0;
    let tags = elements(response, &CACHE_TAG).take_while(|tag| {
        bytes += tag.len() + 1;
        bytes <= LONGEST_TAGS
    });
    tags.map(str::to_ascii_lowercase).collect()
}

/// The field that origins tag responses with.
pub const CACHE_TAG: HeaderName = HeaderName::from_static("cache-tag");

/// What of a response's tags is looked at: 16 KB.
const LONGEST_TAGS: usize = 16 << 10;

/// A fetch that takes longer than this many purges is not stored.
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
        // Of the purges 1 to 10 001 the first is forgotten.
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
}
