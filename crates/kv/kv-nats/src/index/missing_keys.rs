//! Compares a stream with the index, message by message: which keys are missing or older.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use kv::{Content, Millis, Record, Sweep, Version};

use super::{Entry, Index};

#[derive(Debug, Default)]
pub(crate) struct Short {
    values: HashMap<Arc<[u8]>, Version>,
    /// Deleted keys, which may be missing.
    deleted: HashMap<Arc<[u8]>, Version>,
    /// Deleted keys for which an older value was found.
    back: HashSet<Arc<[u8]>>,
    found: u64,
}

impl Short {
    pub(crate) fn of(index: &Index, now: Millis) -> Self {
        let mut short = Self::default();
        for (key, entry) in &index.entries {
            let Some(record) = entry.record.as_ref().filter(|record| record.sweep(now) == Sweep::Keep) else {
                continue;
            };
            let wanted = match record.content {
                Content::Value(_) => &mut short.values,
                Content::Deleted { .. } => &mut short.deleted,
            };
            wanted.insert(Arc::clone(key), record.version.clone());
        }
        short
    }

    pub(crate) fn see(&mut self, key: &[u8], record: &Record) {
        let is_value = matches!(record.content, Content::Value(_));
        self.found += u64::from(is_value);
        if self.values.get(key).is_some_and(|version| *version <= record.version) {
            self.values.remove(key);
        }
        if let Some((key, version)) = self.deleted.get_key_value(key) {
            if is_value && record.version < *version {
                self.back.insert(Arc::clone(key));
            } else {
                self.back.remove(key);
            }
        }
    }

    pub(crate) fn total(&self) -> (u64, u64) {
        ((self.values.len() + self.back.len()) as u64, self.found)
    }
}

impl Index {
    /// The key `but` does not count.
    pub(crate) fn newest_value(&self, now: Millis, but: Option<&[u8]>) -> Option<(Arc<[u8]>, u64)> {
        let is_value =
            |entry: &Entry| entry.record.as_ref().is_some_and(|record| record.value(now).is_some());
        let values = self.entries.iter().filter(|(key, entry)| is_value(entry) && but != Some(&key[..]));
        values.map(|(key, entry)| (Arc::clone(key), entry.sequence)).max_by_key(|(_, sequence)| *sequence)
    }
}

#[cfg(test)]
mod tests {
    use kv::{Expiration, StoreName, ValueMeta};

    use super::*;

    const NOW: Millis = Millis(1_000_000);

    fn value(stamp: u64, expiration: Option<u64>) -> Record {
        let version = Version::from_parts(stamp, StoreName::new("lhr").unwrap());
        let about = ValueMeta { bytes: 1, expiration: expiration.map(Expiration), metadata: None };
        Record { version, content: Content::Value(about) }
    }

    fn gone(stamp: u64, since: u64) -> Record {
        Record { content: Content::Deleted { since }, ..value(stamp, None) }
    }

    fn total(found: &[(&str, Record)]) -> (u64, u64) {
        let mut index = Index::default();
        let known = [
            ("a", value(1, None)),
            ("b", value(5, None)),
            ("gone", gone(6, 900)),
            ("over", value(7, Some(999))),
        ];
        for (sequence, (key, record)) in (1..).zip(known) {
            index.apply(key.as_bytes(), Entry { sequence, record: Some(record) });
        }
        index.apply(b"foreign", Entry { sequence: 9, record: None });
        assert_eq!(index.newest_value(NOW, None), Some((b"b"[..].into(), 2)));
        assert_eq!(index.newest_value(NOW, Some(b"b")), Some((b"a"[..].into(), 1)));
        let mut short = Short::of(&index, NOW);
        found.iter().for_each(|(key, record)| short.see(key.as_bytes(), record));
        short.total()
    }

    #[test]
    fn values_are_wanted_and_deletions_must_not_be_undone() {
        assert_eq!(total(&[]), (2, 0));
        assert_eq!(total(&[("a", value(1, None)), ("b", value(5, None))]), (0, 2));
        assert_eq!(total(&[("a", value(2, None)), ("b", gone(6, 990))]), (0, 1), "newer ones");
        assert_eq!(total(&[("a", value(1, None)), ("b", value(4, None))]), (1, 2), "an older one");
        let all = [("a", value(1, None)), ("b", value(5, None))];
        assert_eq!(total(&[&all[..], &[("gone", value(3, None))]].concat()), (1, 3));
        assert_eq!(
            total(&[&all[..], &[("gone", value(3, None)), ("gone", value(8, None))]].concat()),
            (0, 4)
        );
        assert_eq!(total(&[&all[..], &[("gone", gone(6, 900)), ("new", value(9, None))]].concat()), (0, 3));
    }
}
