//! The in-memory index: the records of all keys in list order, and when they expire.

mod missing_keys;
mod paired;

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    ops::Bound,
    sync::Arc,
};

use kv::{Content, Cursor, Listed, ListedKey, Millis, Page, Record, ValueMeta, Version};

pub(crate) use self::missing_keys::Short;
use crate::layout::joined;

#[derive(Debug, Default)]
pub(crate) struct Index {
    entries: BTreeMap<Arc<[u8]>, Entry>,
    /// When [`Record::sweep`] changes a record, in seconds since 1970.
    due: BTreeSet<(u64, Arc<[u8]>)>,
    /// Messages that the other store may lack, by sequence number.
    noted: BTreeMap<u64, Arc<[u8]>>,
    /// The other store has all messages up to this number except the noted ones; `None` if there is
    /// no other store.
    given: Option<u64>,
    keys: u64,
    bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) sequence: u64,
    /// `None` if it cannot be decoded.
    pub(crate) record: Option<Record>,
}

impl Entry {
    pub(crate) fn version(&self) -> Option<&Version> {
        self.record.as_ref().map(|record| &record.version)
    }

    fn about(&self) -> Option<&ValueMeta> {
        match &self.record {
            Some(Record { content: Content::Value(about), .. }) => Some(about),
            _ => None,
        }
    }
}

impl Index {
    pub(crate) fn get(&self, key: &[u8]) -> Option<&Entry> {
        self.entries.get(key)
    }

    /// Returns whether it was applied: not if a newer message is known.
    pub(crate) fn apply(&mut self, key: &[u8], entry: Entry) -> bool {
        let (sequence, is_record) = (entry.sequence, entry.record.is_some());
        let bytes = entry.about().map(|about| about.bytes);
        let due = entry.record.as_ref().and_then(Record::due);
        let here = (Bound::Included(key), Bound::Included(key));
        let key = match self.entries.range_mut::<[u8], _>(here).next() {
            Some((_, known)) if known.sequence >= sequence => return false,
            Some((key, known)) => {
                let (key, before) = (Arc::clone(key), mem::replace(known, entry));
                self.take_off(&key, &before);
                key
            }
            None => {
                let key: Arc<[u8]> = key.into();
                self.entries.insert(Arc::clone(&key), entry);
                key
            }
        };
        if let Some(bytes) = bytes {
            self.keys += 1;
            self.bytes = self.bytes.saturating_add(bytes);
        }
        if let Some(due) = due {
            self.due.insert((due, Arc::clone(&key)));
        }
        if is_record && self.given.is_some_and(|given| sequence > given) {
            self.noted.insert(sequence, key);
        }
        true
    }

    pub(crate) fn forget(&mut self, key: &[u8], sequence: u64) {
        if self.entries.get(key).is_some_and(|known| known.sequence == sequence)
            && let Some((key, entry)) = self.entries.remove_entry(key)
        {
            self.take_off(&key, &entry);
        }
    }

    fn take_off(&mut self, key: &Arc<[u8]>, entry: &Entry) {
        self.noted.remove(&entry.sequence);
        if let Some(about) = entry.about() {
            self.keys -= 1;
            self.bytes = self.bytes.saturating_sub(about.bytes);
        }
        if let Some(due) = entry.record.as_ref().and_then(Record::due) {
            self.due.remove(&(due, Arc::clone(key)));
        }
    }

    /// A tombstone that the other store lacks is not dropped.
    pub(crate) fn due(&self, now: Millis, most: usize) -> Vec<(Arc<[u8]>, Entry)> {
        let due = self.due.iter().take_while(|(second, _)| *second <= now.seconds());
        let due = due.filter_map(|(_, key)| Some((key, self.entries.get(key)?)));
        let due = due.filter(|(_, entry)| !self.is_kept(entry)).take(most);
        due.map(|(key, entry)| (Arc::clone(key), entry.clone())).collect()
    }

    pub(crate) fn list(&self, namespace: &str, page: &Page, now: Millis) -> Listed {
        let first = joined(namespace, &page.prefix);
        let after = page.after.as_ref().map(|after| joined(namespace, after));
        let start = match &after {
            Some(after) if *after >= first => Bound::Excluded(&after[..]),
            _ => Bound::Included(&first[..]),
        };
        let (mut keys, mut last) = (Vec::new(), None);
        for (looked, (key, entry)) in self.entries.range::<[u8], _>((start, Bound::Unbounded)).enumerate() {
            if !key.starts_with(&first) {
                break;
            }
            if keys.len() == page.limit || looked == MOST_LOOKED {
                return Listed { keys, next: last.map(|last| Cursor { last }) };
            }
            let name = String::from_utf8_lossy(&key[namespace.len() + 1..]).into_owned();
            last = Some(name.clone());
            if let Some(about) = entry.record.as_ref().and_then(|record| record.value(now)) {
                keys.push(ListedKey::new(name, about));
            }
        }
        Listed { keys, next: None }
    }

    pub(crate) fn held(&self) -> (u64, u64) {
        (self.keys, self.bytes)
    }
}

/// Keys scanned per page, with or without a value.
const MOST_LOOKED: usize = 50_000;

#[cfg(test)]
mod tests {
    use kv::{Expiration, StoreName};

    use super::*;

    fn entry(sequence: u64, expiration: Option<u64>) -> Entry {
        let version = Version::from_parts(sequence, StoreName::new("lhr").unwrap());
        let about = ValueMeta { bytes: 10, expiration: expiration.map(Expiration), metadata: None };
        Entry { sequence, record: Some(Record { version, content: Content::Value(about) }) }
    }

    fn gone(sequence: u64, since: u64) -> Entry {
        let version = Version::from_parts(sequence, StoreName::new("lhr").unwrap());
        Entry { sequence, record: Some(Record { version, content: Content::Deleted { since } }) }
    }

    fn names(
        index: &Index,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> (Vec<String>, Option<String>) {
        let page = Page { prefix: prefix.into(), after: after.map(Into::into), limit };
        let Listed { keys, next } = index.list("ns", &page, Millis(50_000));
        (keys.into_iter().map(|key| key.name).collect(), next.map(|next| next.last))
    }

    #[test]
    fn pages_are_in_the_order_of_bytes_and_pass_over_what_has_no_value() {
        let mut index = Index::default();
        for (number, key) in ["b", "a1", "a/", "ä", "a3", "a2"].into_iter().enumerate() {
            index.apply(&joined("ns", key), entry(number as u64 + 1, None));
        }
        index.apply(&joined("ns2", "a0"), entry(7, None));
        index.apply(&joined("ns", "a1"), gone(8, 1));
        index.apply(&joined("ns", "a2"), entry(9, Some(50)));
        assert_eq!(names(&index, "", None, 9), (["a/", "a3", "b", "ä"].map(String::from).into(), None));
        assert_eq!(names(&index, "a", None, 1), (vec!["a/".into()], Some("a/".into())));
        assert_eq!(names(&index, "a", Some("a/"), 1), (vec!["a3".into()], None));
        assert_eq!(names(&index, "c", None, 1), (vec![], None));
        assert_eq!(index.held(), (6, 60));
    }

    #[test]
    fn a_message_that_comes_late_changes_nothing() {
        let mut index = Index::default();
        assert!(index.apply(b"k", gone(5, 1)));
        assert!(!index.apply(b"k", entry(4, None)) && !index.apply(b"k", entry(5, None)));
        assert_eq!(index.held(), (0, 0));
        index.forget(b"k", 4);
        assert_eq!(index.get(b"k"), Some(&gone(5, 1)));
        index.forget(b"k", 5);
        assert!(index.get(b"k").is_none() && index.due.is_empty());
    }

    #[test]
    fn what_is_due_follows_the_last_message() {
        let mut index = Index::default();
        index.apply(b"k", entry(1, Some(100)));
        index.apply(b"j", entry(2, Some(90)));
        index.apply(b"k", entry(3, Some(110)));
        let due = |second: u64| {
            index
                .due(Millis(second * 1000), 9)
                .into_iter()
                .map(|(_, entry)| entry.sequence)
                .collect::<Vec<_>>()
        };
        assert_eq!((due(89), due(100), due(110)), (vec![], vec![2], vec![2, 3]));
    }
}
