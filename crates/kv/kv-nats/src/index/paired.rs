//! Which keys the other store may lack, and the versions of the keys in a range.
//!
//! Each key has one message. So the other store may lack all messages after the mark, plus some
//! earlier ones that are noted.

use std::{ops::Bound, sync::Arc};

use kv::{Content, KeyVersion, Millis, Span, Version};

use super::{Entry, Index};

impl Index {
    /// `given` is `None` if there is no other store.
    pub(crate) fn of_pair(given: Option<u64>) -> Self {
        Self { given, ..Self::default() }
    }

    /// Returns whether there is a record.
    pub(crate) fn note(&mut self, key: &[u8]) -> bool {
        let Some((key, entry)) = self.entries.get_key_value(key) else { return false };
        if entry.record.is_none() {
            return false;
        }
        self.noted.insert(entry.sequence, Arc::clone(key));
        true
    }

    /// A newer record remains noted.
    pub(crate) fn unnote(&mut self, key: &[u8], known: &Version) {
        if let Some(entry) = self.entries.get(key)
            && entry.version().is_none_or(|version| version <= known)
        {
            self.noted.remove(&entry.sequence);
        }
    }

    pub(crate) fn is_noted(&self, key: &[u8]) -> bool {
        self.entries.get(key).is_some_and(|entry| self.noted.contains_key(&entry.sequence))
    }

    pub(crate) fn noted(&self) -> u64 {
        self.noted.len() as u64
    }

    /// At most `most.0` keys with at most `most.1` bytes of values, but at least one key.
    pub(crate) fn notes(&self, after: u64, most: (usize, u64)) -> Vec<(u64, Arc<[u8]>)> {
        let (mut notes, mut bytes) = (Vec::new(), 0);
        for (sequence, key) in self.noted.range(after.saturating_add(1)..).take(most.0) {
            let about = self.entries.get(key).and_then(Entry::about);
            bytes += about.map_or(0, |about| about.bytes);
            if bytes > most.1 && !notes.is_empty() {
                break;
            }
            notes.push((*sequence, Arc::clone(key)));
        }
        notes
    }

    /// If all messages up to `read` were read.
    pub(crate) fn given(&self, read: u64) -> u64 {
        let first = self.noted.first_key_value().map(|(first, _)| first.saturating_sub(1));
        first.map_or(read, |first| first.min(read))
    }

    /// At most `most.0` keys with about `most.1` bytes of names; and where the covered span ends.
    pub(crate) fn known(
        &self,
        span: &Span,
        most: (usize, usize),
        now: Millis,
    ) -> (Vec<KeyVersion>, Option<String>) {
        let start = Bound::Excluded(span.after.as_bytes());
        let end = span.upto.as_ref().map_or(Bound::Unbounded, |upto| Bound::Included(upto.as_bytes()));
        let (mut known, mut bytes, mut last) = (Vec::new(), 0, None);
        for (looked, (key, entry)) in self.entries.range::<[u8], _>((start, end)).enumerate() {
            if known.len() == most.0 || bytes >= most.1 || looked == MOST_LOOKED {
                return (known, last);
            }
            let name = String::from_utf8_lossy(key).into_owned();
            bytes += name.len();
            last = Some(name.clone());
            if let Some(record) = entry.record.as_ref().filter(|record| record.is_compared(now)) {
                known.push((name, record.version.clone()));
            }
        }
        (known, span.upto.clone())
    }

    /// The other store may lack it.
    pub(super) fn is_kept(&self, entry: &Entry) -> bool {
        let is_gone =
            entry.record.as_ref().is_some_and(|record| matches!(record.content, Content::Deleted { .. }));
        is_gone && self.noted.contains_key(&entry.sequence)
    }
}

/// Scanned for one range, compared or not: a few milliseconds.
const MOST_LOOKED: usize = 10_000;

#[cfg(test)]
mod tests {
    use kv::{Record, StoreName, TOMBSTONE, ValueMeta};

    use super::*;

    fn version(stamp: u64) -> Version {
        Version::from_parts(stamp, StoreName::new("lhr").unwrap())
    }

    fn entry(sequence: u64, bytes: u64) -> Entry {
        let content = Content::Value(ValueMeta { bytes, expiration: None, metadata: None });
        Entry { sequence, record: Some(Record { version: version(sequence), content }) }
    }

    fn gone(sequence: u64) -> Entry {
        Entry {
            sequence,
            record: Some(Record { version: version(sequence), content: Content::Deleted { since: 1 } }),
        }
    }

    fn notes(index: &Index, after: u64, most: (usize, u64)) -> Vec<u64> {
        index.notes(after, most).into_iter().map(|(sequence, _)| sequence).collect()
    }

    #[test]
    fn what_lies_behind_the_mark_is_noted_and_what_was_found_to_lack() {
        let mut index = Index::of_pair(Some(5));
        for (sequence, key) in [(3, b"a"), (5, b"b"), (6, b"c"), (7, b"d")] {
            index.apply(key, entry(sequence, 10));
        }
        index.apply(b"e", Entry { sequence: 8, record: None });
        assert_eq!((notes(&index, 0, (9, 99)), index.given(8)), (vec![6, 7], 5));
        index.apply(b"c", entry(9, 10));
        assert_eq!((notes(&index, 0, (9, 99)), index.given(8)), (vec![7, 9], 6));
        index.unnote(b"d", &version(7));
        index.unnote(b"c", &version(6));
        assert_eq!((notes(&index, 0, (9, 99)), index.given(8)), (vec![9], 8));
        index.unnote(b"c", &version(9));
        assert_eq!((index.noted(), index.given(8), index.given(9)), (0, 8, 9));
        assert!(index.note(b"a") && !index.note(b"e") && !index.note(b"none"));
        assert_eq!((notes(&index, 0, (9, 99)), index.given(9)), (vec![3], 2));
        index.forget(b"a", 3);
        assert_eq!(index.noted(), 0);
        let mut alone = Index::default();
        alone.apply(b"a", entry(3, 10));
        assert_eq!(alone.noted(), 0);
    }

    #[test]
    fn notes_come_by_their_messages_and_not_too_many_bytes_at_once() {
        let mut index = Index::of_pair(Some(0));
        for (sequence, bytes) in [(1, 500), (2, 40), (3, 60), (4, 1)] {
            index.apply(&[b'a' + u8::try_from(sequence).unwrap()], entry(sequence, bytes));
        }
        assert_eq!(notes(&index, 0, (9, 100)), [1]);
        assert_eq!(notes(&index, 1, (9, 100)), [2, 3]);
        assert_eq!(notes(&index, 3, (9, 100)), [4]);
        assert_eq!(notes(&index, 0, (2, 1000)), [1, 2]);
    }

    #[test]
    fn a_deletion_that_the_other_store_has_not_got_is_not_forgotten() {
        let mut index = Index::of_pair(Some(0));
        index.apply(b"a", gone(1));
        index.apply(b"b", gone(2));
        index.unnote(b"b", &version(2));
        let day_later = Millis((TOMBSTONE.as_secs() + 2) * 1000);
        let due = |index: &Index| {
            index.due(day_later, 9).into_iter().map(|(key, _)| key.to_vec()).collect::<Vec<_>>()
        };
        assert_eq!(due(&index), [b"b"]);
        index.unnote(b"a", &version(1));
        assert_eq!(due(&index), [b"a", b"b"]);
    }

    #[test]
    fn what_is_compared_ends_where_it_has_come_to_an_end() {
        let mut index = Index::of_pair(Some(9));
        for (sequence, key) in [(1, "n\0a"), (2, "n\0b"), (3, "n\0c")] {
            index.apply(key.as_bytes(), entry(sequence, 1));
        }
        index.apply(b"n\0b", gone(4));
        let of = |after: &str, upto: Option<&str>, most, now: u64| {
            let span = Span { after: after.to_owned(), upto: upto.map(str::to_owned) };
            let (known, end) = index.known(&span, most, Millis(now * 1000));
            (known.into_iter().map(|(_, version)| version.stamp()).collect::<Vec<_>>(), end)
        };
        assert_eq!(of("", None, (9, 99), 2), (vec![1, 4, 3], None));
        assert_eq!(of("", None, (2, 99), 2), (vec![1, 4], Some("n\0b".to_owned())));
        assert_eq!(of("", None, (9, 1), 2), (vec![1], Some("n\0a".to_owned())));
        assert_eq!(of("n\0a", Some("n\0b"), (9, 99), 2), (vec![4], Some("n\0b".to_owned())));
        assert_eq!(of("", None, (9, 99), TOMBSTONE.as_secs()), (vec![1, 3], None));
    }
}
