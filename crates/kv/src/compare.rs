//! Two stores find out in which keys they differ: they compare a number for each range of keys, and the versions of the keys in a range where
//! the numbers are not the same.
//!
//! A range ends where the one that asks has had as many keys as it takes at once, and before that where the other one has: so what is in memory
//! is bounded however much more one of them has than the other.

use tiers::KeyHash;

use crate::{Millis, Record, TOMBSTONE, Version, record::Content};

/// Whether there is another store of the same values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Company {
    /// There is none.
    #[default]
    Alone,
    /// There is one: of each key that is written here it is known, as durably as the write, that the other one may know less.
    Paired,
}

/// A key, with its namespace in front, and the version of what is known of it.
pub type Known = (String, Version);

/// A range of keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The key before its first one; empty at the beginning.
    pub after: String,
    /// Its last one; `None` at the end of all.
    pub upto: Option<String>,
}

/// Keys in which two stores differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Differences {
    /// Those of which this store knows something newer.
    pub newer_here: Vec<String>,
    /// Those of which the other one does.
    pub newer_there: Vec<String>,
}

impl Span {
    /// Whether a key is in it.
    pub fn has(&self, key: &str) -> bool {
        key > self.after.as_str() && self.upto.as_deref().is_none_or(|upto| key <= upto)
    }

    /// The part of it up to where somebody else came to an end.
    #[must_use]
    pub fn until(self, upto: Option<String>) -> Self {
        let upto = match (self.upto, upto) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Self { after: self.after, upto }
    }
}

/// A number for what is known of some keys: another one if anything of it is another.
pub fn digest(known: &[Known]) -> u64 {
    let mut bytes = Vec::new();
    known.iter().fold(0, |before, (key, version)| {
        bytes.clear();
        bytes.extend(u64::to_be_bytes(before));
        bytes.extend(version.stamp().to_be_bytes());
        // Neither has such a byte in it in this place, so that no other pair has the same bytes.
        for text in [version.store().as_str(), key] {
            bytes.extend(text.bytes());
            bytes.push(0xff);
        }
        KeyHash::of(&bytes).0
    })
}

/// In which keys of a span two stores differ. Both lists are in the order of keys.
pub fn differences(span: &Span, here: &[Known], there: &[Known]) -> Differences {
    let mut found = Differences::default();
    let mut here = here.iter().filter(|(key, _)| span.has(key)).peekable();
    let mut there = there.iter().filter(|(key, _)| span.has(key)).peekable();
    loop {
        let is_here_first = match (here.peek(), there.peek()) {
            (None, None) => return found,
            (Some((key, version)), Some((other, other_version))) if key == other => {
                if version > other_version {
                    found.newer_here.push(key.clone());
                } else if version < other_version {
                    found.newer_there.push(key.clone());
                }
                here.next();
                there.next();
                continue;
            }
            (Some((key, _)), Some((other, _))) => key < other,
            (here, _) => here.is_some(),
        };
        let (from, to) = if is_here_first {
            (here.next(), &mut found.newer_here)
        } else {
            (there.next(), &mut found.newer_there)
        };
        to.extend(from.map(|(key, _)| key.clone()));
    }
}

impl Record {
    /// Whether two stores compare it. A tombstone whose time is half over is known to both, as no store forgets one that the other has not got;
    /// they forget it at times of their own, in which they do not differ.
    pub fn is_compared(&self, now: Millis) -> bool {
        match self.content {
            Content::Value(_) => true,
            Content::Deleted { since } => now.seconds() < since.saturating_add(TOMBSTONE.as_secs() / 2),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::version::tests::version;

    fn known() -> impl Strategy<Value = BTreeMap<String, u64>> {
        prop::collection::btree_map("[a-e]{1,2}", 0..3_u64, 0..12)
    }

    fn list(known: &BTreeMap<String, u64>) -> Vec<Known> {
        known.iter().map(|(key, stamp)| (key.clone(), version(*stamp, "a"))).collect()
    }

    proptest! {
        #[test]
        fn numbers_are_the_same_only_of_the_same(a in known(), b in known()) {
            prop_assert_eq!(digest(&list(&a)) == digest(&list(&b)), a == b);
        }

        #[test]
        fn all_differences_in_a_span_are_found(
            a in known(),
            b in known(),
            after in "[a-e]{0,2}",
            upto in prop::option::of("[a-e]{1,2}"),
        ) {
            let span = Span { after, upto };
            let found = differences(&span, &list(&a), &list(&b));
            for key in a.keys().chain(b.keys()) {
                let (is_newer_here, is_newer_there) = (a.get(key) > b.get(key), a.get(key) < b.get(key));
                prop_assert_eq!(found.newer_here.contains(key), is_newer_here && span.has(key));
                prop_assert_eq!(found.newer_there.contains(key), is_newer_there && span.has(key));
            }
            prop_assert!(found.newer_here.is_sorted() && found.newer_there.is_sorted());
        }
    }

    #[test]
    fn a_span_ends_where_either_has_come_to_an_end() {
        let span = |upto: Option<&str>| Span { after: "a".into(), upto: upto.map(Into::into) };
        assert_eq!(span(None).until(None), span(None));
        assert_eq!(span(Some("c")).until(None), span(Some("c")));
        assert_eq!(span(None).until(Some("b".into())), span(Some("b")));
        assert_eq!(span(Some("c")).until(Some("b".into())), span(Some("b")));
        assert!(span(Some("c")).has("c") && !span(Some("c")).has("a") && !span(Some("c")).has("ca"));
    }
}
