//! What a store knows of a key, as data and as bytes; and what becomes of it with time.
//!
//! A value that was deleted, or is over, leaves a tombstone, which is newer than what other stores may still have: only after
//! [`TOMBSTONE`] is nothing known of the key any more.

use std::time::Duration;

use crate::{Expiration, Metadata, Millis, StoreName, Version};

/// What a store knows of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// When that was written. The newest one counts, wherever it comes from.
    pub version: Version,
    /// A value, or that there is none.
    pub content: Content,
}

/// A value, or that there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// There is one.
    Value(About),
    /// There was one.
    Deleted {
        /// In which second it ended, counted from 1970.
        since: u64,
    },
}

/// A value, but for its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// How many bytes it has.
    pub bytes: u64,
    /// From when on it is not there any more.
    pub expiration: Option<Expiration>,
    /// What its writer said of it.
    pub metadata: Option<Metadata>,
}

/// What time makes of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sweep {
    /// Nothing.
    Keep,
    /// Its value is over: this takes its place.
    Bury(Record),
    /// It need not be known any more.
    Forget,
}

/// What a store makes of something that has a version already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// It is newer than what is known, and takes its place.
    New,
    /// It is what is known.
    Same,
    /// This is known, which is newer: a writer makes a newer version of what it writes, and the other store is told.
    Older(Version),
}

/// Bytes are not a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("what is stored of a key is damaged, or from a newer version")]
pub struct Damaged;

impl Record {
    /// What a store that knows this, if anything, makes of something with this version.
    pub fn given(known: Option<&Self>, version: &Version) -> Given {
        match known.map(|known| &known.version) {
            Some(known) if known > version => Given::Older(known.clone()),
            Some(known) if known == version => Given::Same,
            Some(_) | None => Given::New,
        }
    }

    /// The value, if it is there at this time.
    pub fn value(&self, now: Millis) -> Option<&About> {
        match &self.content {
            Content::Value(about) if !about.is_past(now) => Some(about),
            _ => None,
        }
    }

    /// The second in which [`Self::sweep`] has something to do, counted from 1970; `None` if time makes nothing of it.
    pub fn due(&self) -> Option<u64> {
        match &self.content {
            Content::Value(about) => about.expiration.map(|at| at.0),
            Content::Deleted { since } => Some(since.saturating_add(TOMBSTONE.as_secs())),
        }
    }

    /// What time has made of it.
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

    /// As bytes.
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
                // No expiration is 0: a value that is over when the time begins was never there.
                bytes.extend(about.expiration.map_or(0, |at| at.0).to_be_bytes());
                bytes.extend(about.metadata.iter().flat_map(|metadata| metadata.as_str().bytes()));
            }
            Content::Deleted { since } => bytes.extend(since.to_be_bytes()),
        }
        bytes
    }

    /// From the bytes that [`Self::encode`] made.
    ///
    /// # Errors
    /// When they are anything else.
    pub fn decode(bytes: &[u8]) -> Result<Self, Damaged> {
        let (&kind, rest) = bytes.split_first().ok_or(Damaged)?;
        let (stamp, rest) = number(rest)?;
        let (&length, rest) = rest.split_first().ok_or(Damaged)?;
        let (store, rest) = rest.split_at_checked(usize::from(length)).ok_or(Damaged)?;
        let store = std::str::from_utf8(store).ok().and_then(StoreName::new).ok_or(Damaged)?;
        let (first, rest) = number(rest)?;
        let content = match kind {
            VALUE => {
                let (at, metadata) = number(rest)?;
                let expiration = (at > 0).then_some(Expiration(at));
                let metadata = (!metadata.is_empty()).then(|| Metadata::new(metadata)).transpose();
                Content::Value(About { bytes: first, expiration, metadata: metadata.map_err(|_| Damaged)? })
            }
            DELETED if rest.is_empty() => Content::Deleted { since: first },
            _ => return Err(Damaged),
        };
        Ok(Self { version: Version::from_parts(stamp, store), content })
    }
}

impl About {
    /// Whether it is over.
    pub fn is_past(&self, now: Millis) -> bool {
        self.expiration.is_some_and(|at| at.is_past(now))
    }
}

fn number(bytes: &[u8]) -> Result<(u64, &[u8]), Damaged> {
    let (number, rest) = bytes.split_first_chunk().ok_or(Damaged)?;
    Ok((u64::from_be_bytes(*number), rest))
}

/// How long it is known that a key has no value: longer than stores are apart before somebody does something about it.
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
            Content::Value(About { bytes, expiration: at.map(Expiration), metadata })
        });
        let content = prop_oneof![value, any::<u64>().prop_map(|since| Content::Deleted { since })];
        (0..4_u64, prop::sample::select(vec!["a", "b"]), content)
            .prop_map(|(stamp, store, content)| Record { version: version(stamp, store), content })
    }

    /// What a store knows after it has heard of these, in this order.
    fn heard(records: &[Record]) -> Version {
        let mut known: Option<Record> = None;
        for record in records {
            if Record::given(known.as_ref(), &record.version) == Given::New {
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

        /// A value that is over is not there again while any store may still have an older one.
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
