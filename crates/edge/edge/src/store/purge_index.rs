//! Index of objects by URL, tags and groups, so that a purge visits only the objects that it may
//! match.

use std::{
    collections::BTreeSet,
    hash::{BuildHasher, RandomState},
};

use http_cache::purge::{Purge, Subject};

/// Pairs of name hash and object number. A hash collision costs one unneeded check.
#[derive(Debug, Default)]
pub(crate) struct PurgeIndex {
    hasher: RandomState,
    all: BTreeSet<(u64, u64)>,
}

impl PurgeIndex {
    pub(crate) fn add(&mut self, number: u64, subject: &Subject) {
        for name in self.of(subject) {
            self.all.insert((name, number));
        }
    }

    pub(crate) fn remove(&mut self, number: u64, subject: &Subject) {
        for name in self.of(subject) {
            self.all.remove(&(name, number));
        }
    }

    pub(crate) fn find(&self, purge: &Purge) -> Option<impl Iterator<Item = u64>> {
        let name = match purge {
            Purge::Url(url) => self.hash("url", url),
            Purge::Tag(tag) => self.hash("tag", tag),
            Purge::Group(_, group) => self.hash("group", group),
            Purge::Host(_) | Purge::Prefix(_) | Purge::Everything => return None,
        };
        Some(self.all.range((name, 0)..=(name, u64::MAX)).map(|(_, number)| *number))
    }

    fn of(&self, subject: &Subject) -> Vec<u64> {
        let tags = subject.tags.iter().map(|tag| self.hash("tag", tag));
        let groups = subject.groups.iter().map(|group| self.hash("group", group));
        tags.chain(groups).chain([self.hash("url", &subject.purge_url())]).collect()
    }

    fn hash(&self, kind: &str, name: &str) -> u64 {
        self.hasher.hash_one((kind, name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_found_by_each_name_until_removed() {
        let subject = |url: &str, tags: &[&str], groups: &[&str]| Subject {
            zone: "z".into(),
            url: url.into(),
            tags: tags.iter().map(|&tag| tag.into()).collect(),
            groups: groups.iter().map(|&group| group.into()).collect(),
        };
        let mut names = PurgeIndex::default();
        let (first, second) = (subject("u", &["a", "b", "a"], &["g"]), subject("u", &["b"], &[]));
        names.add(1, &first);
        names.add(2, &second);
        let found = |names: &PurgeIndex, purge| names.find(&purge).map(Iterator::collect::<Vec<_>>);
        assert_eq!(found(&names, Purge::Url("u".into())), Some(vec![1, 2]));
        assert_eq!(found(&names, Purge::Tag("a".into())), Some(vec![1]));
        assert_eq!(found(&names, Purge::Tag("b".into())), Some(vec![1, 2]));
        assert_eq!(found(&names, Purge::Group("http://o".into(), "g".into())), Some(vec![1]));
        assert_eq!(found(&names, Purge::Url("a".into())), Some(vec![]));
        assert_eq!(found(&names, Purge::Everything), None);
        names.remove(1, &first);
        assert_eq!(found(&names, Purge::Tag("b".into())), Some(vec![2]));
        names.remove(2, &second);
        assert!(names.all.is_empty());
    }
}
