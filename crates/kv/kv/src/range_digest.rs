//! Anti-entropy of two stores: they compare a digest of each range of keys, and the versions of the
//! keys in each range whose digests differ.
//!
//! A range ends at the limit of keys per range of either store, so the memory is bounded.

use tier_routing::KeyHash;

use crate::{Millis, Record, TOMBSTONE, Version, record::Content};

/// Whether the store has a replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pairing {
    /// There is no other store.
    #[default]
    Alone,
    /// There is another store, which may lack the keys of recent writes.
    Paired,
}

/// A key, prefixed with its namespace, and the version of its record.
pub type KeyVersion = (String, Version);

/// A range of keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The last key before the range; empty at the start of all keys.
    pub after: String,
    /// The last key of the range; `None` at the end of all keys.
    pub upto: Option<String>,
}

/// The keys in which two stores differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Differences {
    /// Keys with a newer record in this store.
    pub newer_here: Vec<String>,
    /// Keys with a newer record in the other store.
    pub newer_there: Vec<String>,
}

impl Span {
    /// Whether the range contains a key.
    pub fn has(&self, key: &str) -> bool {
        key > self.after.as_str() && self.upto.as_deref().is_none_or(|upto| key <= upto)
    }

    /// The range, shortened to end at `upto`.
    #[must_use]
    pub fn until(self, upto: Option<String>) -> Self {
        let upto = match (self.upto, upto) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Self { after: self.after, upto }
    }
}

/// A digest of keys and versions.
pub fn digest(known: &[KeyVersion]) -> u64 {
    let mut bytes = Vec::new();
    known.iter().fold(0, |before, (key, version)| {
        bytes.clear();
        bytes.extend(u64::to_be_bytes(before));
        bytes.extend(version.stamp().to_be_bytes());
        // Neither store names nor keys contain the byte 0xff, so the encoding is unambiguous.
        for text in [version.store().as_str(), key] {
            bytes.extend(text.bytes());
            bytes.push(0xff);
        }
        KeyHash::of(&bytes).0
    })
}

/// The differences of two stores in a range. Both lists are sorted by key.
pub fn differences(span: &Span, here: &[KeyVersion], there: &[KeyVersion]) -> Differences {
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
    /// Whether two stores compare this record. Tombstones older than half of [`TOMBSTONE`] are
    /// excluded, because each store drops them at another time.
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

    fn list(known: &BTreeMap<String, u64>) -> Vec<KeyVersion> {
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
