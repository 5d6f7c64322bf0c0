//! A store's record of a key, its encoding, and its expiration.
//!
//! A value that was deleted or has expired leaves a tombstone, which is newer than the records that
//! other stores may still have. The tombstone is dropped after [`TOMBSTONE`].

use std::time::Duration;

use crate::{Expiration, Metadata, Millis, StoreName, Version};

/// A store's record of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// When the record was written. The newest record wins, regardless of the store that it was
    /// written to.
    pub version: Version,
    /// A value or a tombstone.
    pub content: Content,
}

/// A value or a tombstone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A value.
    Value(ValueMeta),
    /// A tombstone.
    Deleted {
        /// The second in which the value ended, since 1970.
        since: u64,
    },
}

/// The attributes of a value, without its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueMeta {
    /// The size of the value in bytes.
    pub bytes: u64,
    /// When the value expires.
    pub expiration: Option<Expiration>,
    /// The metadata that its writer set.
    pub metadata: Option<Metadata>,
}

/// What becomes of a record at a given time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sweep {
    /// The record is unchanged.
    Keep,
    /// The value has expired and is replaced with this tombstone.
    Bury(Record),
    /// The tombstone is dropped.
    Forget,
}

/// How a store handles a record that already has a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApplyOutcome {
    /// The record is newer than the stored one and replaces it.
    New,
    /// The record is already stored.
    Same,
    /// The stored record is newer and has this version.
    Older(Version),
}

/// The stored bytes or fields are not a valid record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the stored record of a key is damaged, or from a newer version")]
pub struct CorruptRecord;

impl Record {
    /// How a store with the record `known` handles a record with this version.
    pub fn given(known: Option<&Self>, version: &Version) -> ApplyOutcome {
        match known.map(|known| &known.version) {
            Some(known) if known > version => ApplyOutcome::Older(known.clone()),
            Some(known) if known == version => ApplyOutcome::Same,
            Some(_) | None => ApplyOutcome::New,
        }
    }

    /// The value, if there is one at this time.
    pub fn value(&self, now: Millis) -> Option<&ValueMeta> {
        match &self.content {
            Content::Value(about) if !about.is_past(now) => Some(about),
            _ => None,
        }
    }

    /// When [`Self::sweep`] changes the record, in seconds since 1970; `None` for never.
    pub fn due(&self) -> Option<u64> {
        match &self.content {
            Content::Value(about) => about.expiration.map(|at| at.0),
            Content::Deleted { since } => Some(since.saturating_add(TOMBSTONE.as_secs())),
        }
    }

    /// What becomes of the record at this time.
    pub fn sweep(&self, now: Millis) -> Sweep {
        match (&self.content, self.due()) {
            (_, None) => Sweep::Keep,
            (_, Some(due)) if due > now.seconds() => Sweep::Keep,
            (Content::Value(_), Some(since)) => {
                Sweep::Bury(Self { version: self.version.clone(), content: Content::Deleted { since } })
            }
            (Content::Deleted { .. }, _) => Sweep::Forget,
        }
    }

    /// Encodes the record as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let store = self.version.store().as_str();
        let mut bytes = Vec::with_capacity(64);
        bytes.push(if matches!(self.content, Content::Value(_)) { VALUE } else { DELETED });
        bytes.extend(self.version.stamp().to_be_bytes());
        #[expect(clippy::cast_possible_truncation, reason = "a store's name has at most 64 bytes")]
        bytes.push(store.len() as u8);
        bytes.extend(store.as_bytes());
        match &self.content {
            Content::Value(about) => {
                bytes.extend(about.bytes.to_be_bytes());
                // 0 encodes no expiration: a value cannot expire in 1970.
                bytes.extend(about.expiration.map_or(0, |at| at.0).to_be_bytes());
                bytes.extend(about.metadata.iter().flat_map(|metadata| metadata.as_str().bytes()));
            }
            Content::Deleted { since } => bytes.extend(since.to_be_bytes()),
        }
        bytes
    }

    /// Decodes the bytes that [`Self::encode`] returned.
    ///
    /// # Errors
    /// When the bytes are invalid.
    pub fn decode(bytes: &[u8]) -> Result<Self, CorruptRecord> {
        let (&kind, rest) = bytes.split_first().ok_or(CorruptRecord)?;
        let (stamp, rest) = number(rest)?;
        let (&length, rest) = rest.split_first().ok_or(CorruptRecord)?;
        let (store, rest) = rest.split_at_checked(usize::from(length)).ok_or(CorruptRecord)?;
        let store = std::str::from_utf8(store).ok().and_then(StoreName::new).ok_or(CorruptRecord)?;
        let (first, rest) = number(rest)?;
        let content = match kind {
            VALUE => {
                let (at, metadata) = number(rest)?;
                let expiration = (at > 0).then_some(Expiration(at));
                let metadata = (!metadata.is_empty()).then(|| Metadata::new(metadata)).transpose();
                Content::Value(ValueMeta {
                    bytes: first,
                    expiration,
                    metadata: metadata.map_err(|_| CorruptRecord)?,
                })
            }
            DELETED if rest.is_empty() => Content::Deleted { since: first },
            _ => return Err(CorruptRecord),
        };
        Ok(Self { version: Version::from_parts(stamp, store), content })
    }
}

impl ValueMeta {
    /// Whether the value has expired.
    pub fn is_past(&self, now: Millis) -> bool {
        self.expiration.is_some_and(|at| at.is_past(now))
    }
}

fn number(bytes: &[u8]) -> Result<(u64, &[u8]), CorruptRecord> {
    let (number, rest) = bytes.split_first_chunk().ok_or(CorruptRecord)?;
    Ok((u64::from_be_bytes(*number), rest))
}

/// How long tombstones are kept: longer than stores stay disconnected before an operator
/// intervenes.
pub const TOMBSTONE: Duration = Duration::from_secs(24 * 3600);

const VALUE: u8 = 1;
const DELETED: u8 = 2;

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::version::tests::version;

    pub(crate) fn record() -> impl Strategy<Value = Record> {
        let about = (any::<u64>(), prop::option::of(1..u64::MAX), prop::option::of("[a-z ]{0,20}"));
        let value = about.prop_map(|(bytes, at, text)| {
            let metadata = text.map(|text| Metadata::new(format!("\"{text}\"").as_bytes()).unwrap());
            Content::Value(ValueMeta { bytes, expiration: at.map(Expiration), metadata })
        });
        let content = prop_oneof![value, any::<u64>().prop_map(|since| Content::Deleted { since })];
        (0..4_u64, prop::sample::select(vec!["a", "b"]), content)
            .prop_map(|(stamp, store, content)| Record { version: version(stamp, store), content })
    }

    fn heard(records: &[Record]) -> Version {
        let mut known: Option<Record> = None;
        for record in records {
            if Record::given(known.as_ref(), &record.version) == ApplyOutcome::New {
                known = Some(record.clone());
            }
        }
        known.unwrap().version
    }

    proptest! {
        #[test]
        fn a_record_comes_back_from_its_bytes(record in record()) {
            prop_assert_eq!(Record::decode(&record.encode()), Ok(record));
        }

        #[test]
        fn bytes_are_a_record_or_damaged(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            if let Ok(record) = Record::decode(&bytes) {
                prop_assert_eq!(Record::decode(&record.encode()), Ok(record));
            }
        }

        #[test]
        fn stores_agree_in_whatever_order_they_hear(
            records in prop::collection::vec(record(), 1..8),
            seed in any::<prop::sample::Index>(),
        ) {
            let mut others = records.clone();
            others.rotate_left(seed.index(records.len()));
            others.extend(records.iter().rev().cloned());
            prop_assert_eq!(heard(&records), heard(&others));
        }

        #[test]
        fn what_is_over_stays_so_until_it_is_forgotten(record in record(), start in 0..u64::MAX / 2000) {
            let (mut known, mut now) = (record, start);
            let mut was_gone = false;
            while let Some(due) = known.due().filter(|&due| due < u64::MAX / 2000) {
                prop_assert!(!(was_gone && known.value(Millis(now * 1000)).is_some()));
                was_gone = known.value(Millis(now * 1000)).is_none();
                now = now.max(due);
                match known.sweep(Millis(now * 1000)) {
                    Sweep::Keep => prop_assert!(false, "it was due"),
                    Sweep::Bury(record) => {
                        prop_assert_eq!(&record.version, &known.version);
                        known = record;
                    }
                    Sweep::Forget => break,
                }
            }
        }
    }

    #[test]
    fn a_tombstone_is_kept_for_a_day() {
        let record = Record { version: version(1, "a"), content: Content::Deleted { since: 100 } };
        assert_eq!(record.sweep(Millis((100 + 86_399) * 1000)), Sweep::Keep);
        assert_eq!(record.sweep(Millis((100 + 86_400) * 1000)), Sweep::Forget);
    }
}
