//! Replication between two stores: which keys the other store may lack, and the versions of the
//! keys in a range.

use std::ops::Bound;

use bytes::Bytes;
use kv::{ApplyOutcome, Content, KeyVersion, Record, Span};

use redb::{AccessGuard, ReadTransaction, StorageError};

use crate::{
    Error, Found, RedbStore,
    layout::{FullKey, HEADS, Head, NOTES},
    mutation::{Applied, Mutation},
    read::look,
};

impl RedbStore {
    /// Keys that the other store may lack, with their namespaces: at most `most` keys after
    /// `after`. Blocks.
    ///
    /// # Errors
    /// When the keys cannot be read.
    pub fn notes(&self, after: &str, most: usize) -> Result<Vec<String>, Error> {
        let failed = |error: redb::Error| self.file.failed("read", error);
        self.file.read(|view| {
            let notes = view.open_table(NOTES).map_err(|error| failed(error.into()))?;
            let start = Bound::Excluded(after.as_bytes());
            let range =
                notes.range::<&[u8]>((start, Bound::Unbounded)).map_err(|error| failed(error.into()))?;
            let key = |entry: Result<_, StorageError>| {
                let (key, _): (AccessGuard<'_, FullKey<'_>>, _) =
                    entry.map_err(|error| failed(error.into()))?;
                self.text(key.value())
            };
            range.take(most).map(key).collect()
        })
    }

    /// As [`Self::look`], for a key with its namespace as prefix. Blocks.
    ///
    /// # Errors
    /// When the key cannot be read.
    pub fn look_full(&self, full_key: &str) -> Result<Option<Found>, Error> {
        look(&self.file, full_key.as_bytes())
    }

    /// The versions of the compared records in a span, at most `most.0` keys with about `most.1`
    /// bytes of names; and where the span ends.
    ///
    /// # Errors
    /// When the keys cannot be read.
    pub fn known(
        &self,
        span: &Span,
        most: (usize, usize),
    ) -> Result<(Vec<KeyVersion>, Option<String>), Error> {
        self.file.read(|view| self.known_from(view, span, most))
    }

    fn known_from(
        &self,
        view: &ReadTransaction,
        span: &Span,
        most: (usize, usize),
    ) -> Result<(Vec<KeyVersion>, Option<String>), Error> {
        let failed = |error: redb::Error| self.file.failed("read", error);
        let heads = view.open_table(HEADS).map_err(|error| failed(error.into()))?;
        let start = Bound::Excluded(span.after.as_bytes());
        let end = span.upto.as_ref().map_or(Bound::Unbounded, |upto| Bound::Included(upto.as_bytes()));
        let range = heads.range::<&[u8]>((start, end)).map_err(|error| failed(error.into()))?;
        let (mut known, mut looked, mut bytes, mut last) = (Vec::new(), 0, 0, None);
        for entry in range {
            let (key, head) = entry.map_err(|error| failed(error.into()))?;
            if known.len() == most.0 || bytes >= most.1 || looked == MOST_LOOKED {
                return Ok((known, last));
            }
            looked += 1;
            let name = self.text(key.value())?;
            let Head { record, .. } =
                Head::decode(key.value(), head.value()).map_err(|damaged| self.file.damaged(damaged))?;
            bytes += name.len();
            last = Some(name.clone());
            if record.is_compared((self.now)()) {
                known.push((name, record.version));
            }
        }
        Ok((known, span.upto.clone()))
    }

    /// Stores records of the other store durably and atomically. Each value is a single piece.
    ///
    /// # Errors
    /// When the write cannot be stored. Then no key is changed.
    pub async fn take(&self, given: Vec<(String, Record, Bytes)>) -> Result<Vec<ApplyOutcome>, Error> {
        let change = |(key, record, value): (String, Record, Bytes)| {
            let number = if matches!(record.content, Content::Value(_)) { self.next_number() } else { 0 };
            Mutation::Take { key: key.into_bytes(), value: number, rest: value, record }
        };
        let made = self.write(given.into_iter().map(change).collect()).await?;
        let given = made.into_iter().filter_map(|made| match made {
            Applied::Given(given) => Some(given),
            Applied::Version(_) => None,
        });
        Ok(given.collect())
    }

    /// Notes durably that the other store may lack these keys.
    ///
    /// # Errors
    /// When the write cannot be stored.
    pub async fn note(&self, full_keys: Vec<String>) -> Result<(), Error> {
        let note = |key: String| Mutation::Note { key: key.into_bytes() };
        self.write(full_keys.into_iter().map(note).collect()).await.map(drop)
    }

    /// Notes durably that the other store has these versions. Newer records remain noted.
    ///
    /// # Errors
    /// When the write cannot be stored.
    pub async fn unnote(&self, known: Vec<KeyVersion>) -> Result<(), Error> {
        let unnote = |(key, version): KeyVersion| Mutation::Unnote { key: key.into_bytes(), version };
        self.write(known.into_iter().map(unnote).collect()).await.map(drop)
    }

    /// Notes durably that the other store has no keys that this store never received.
    ///
    /// # Errors
    /// When the write cannot be stored.
    pub async fn filled(&self) -> Result<(), Error> {
        self.write(vec![Mutation::Filled]).await.map(drop)
    }

    fn text(&self, key: &[u8]) -> Result<String, Error> {
        let text = std::str::from_utf8(key).map_err(|_| self.file.damaged("a key is not UTF-8"))?;
        Ok(text.to_owned())
    }
}

/// Scanned for one range, compared or not: a few milliseconds.
const MOST_LOOKED: usize = 10_000;
