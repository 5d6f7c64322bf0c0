//! Replication state of one of two stores, in a file or in NATS: the keys to be replicated, and the
//! versions of keys in a range.

use http_stack::Bytes;
use kv::{ApplyOutcome, Content, KeyVersion, Record, Span};
use kv_redb::RedbStore;
use tokio::task::spawn_blocking;

use super::Store;
use crate::api_error::{ApiError, ended};

#[derive(Debug, Clone, Default)]
pub(crate) struct Reached {
    key: String,
    at: u64,
}

pub(crate) struct Noted {
    /// With its namespace.
    pub(crate) key: String,
    /// `None` if the store no longer has a record.
    pub(crate) found: Option<(Record, Bytes)>,
    pub(crate) reached: Reached,
}

impl Store {
    /// `most` limits the number of keys and the bytes of values; the first value may exceed the
    /// limit.
    pub(crate) async fn notes(&self, after: Reached, most: (usize, u64)) -> Result<Vec<Noted>, ApiError> {
        match self {
            Self::File(vault) => {
                let vault = vault.clone();
                let read = spawn_blocking(move || notes(&vault, &after.key, most)).await;
                Ok(read.map_err(|error| ended(&error))??)
            }
            Self::Nats(bucket) => {
                let noted = |kv_nats::Noted { key, at, found }| Noted {
                    reached: Reached { key: String::new(), at },
                    found: found.map(|kv_nats::Found { record, value }| (record, value)),
                    key,
                };
                Ok(bucket.notes(after.at, most).await?.into_iter().map(noted).collect())
            }
        }
    }

    /// `most` limits the number of keys and the bytes of their names. Also returns where the read
    /// part ends.
    pub(crate) async fn known(
        &self,
        span: Span,
        most: (usize, usize),
    ) -> Result<(Vec<KeyVersion>, Option<String>), ApiError> {
        let store = self.clone();
        let known = move || match store {
            Self::File(vault) => Ok::<_, ApiError>(vault.known(&span, most)?),
            Self::Nats(bucket) => Ok(bucket.known(&span, most)?),
        };
        spawn_blocking(known).await.map_err(|error| ended(&error))?
    }

    /// `None` if the record does not fit into a NATS message.
    pub(crate) async fn take(
        &self,
        all: Vec<(String, Record, Bytes)>,
    ) -> Result<Vec<Option<ApplyOutcome>>, ApiError> {
        match self {
            Self::File(vault) => Ok(take(vault, all).await?.into_iter().map(Some).collect()),
            Self::Nats(bucket) => Ok(bucket.take(all).await?),
        }
    }

    pub(crate) async fn note(&self, full_keys: Vec<String>) -> Result<(), ApiError> {
        match self {
            Self::File(vault) => Ok(vault.note(full_keys).await?),
            Self::Nats(bucket) => Ok(bucket.note(&full_keys).await?),
        }
    }

    /// Keys that were written since stay marked.
    pub(crate) async fn unnote(&self, known: Vec<KeyVersion>) -> Result<(), ApiError> {
        match self {
            Self::File(vault) => Ok(vault.unnote(known).await?),
            Self::Nats(bucket) => {
                bucket.unnote(&known);
                Ok(())
            }
        }
    }

    pub(crate) async fn filled(&self) -> Result<(), ApiError> {
        match self {
            Self::File(vault) => Ok(vault.filled().await?),
            Self::Nats(bucket) => Ok(bucket.filled().await?),
        }
    }

    /// The store lacks acknowledged keys that the other store may have.
    pub(crate) fn is_short(&self) -> bool {
        match self {
            Self::File(_) => false,
            Self::Nats(bucket) => bucket.is_short(),
        }
    }

    /// The other store may have old keys that this one lacks.
    pub(crate) fn is_filling(&self) -> bool {
        match self {
            Self::File(vault) => vault.usage().is_filling,
            Self::Nats(bucket) => bucket.is_filling(),
        }
    }
}

/// Blocks.
fn notes(vault: &RedbStore, after: &str, most: (usize, u64)) -> Result<Vec<Noted>, kv_redb::Error> {
    let (mut noted, mut bytes) = (Vec::new(), 0);
    for key in vault.notes(after, most.0)? {
        let mut found = None;
        if let Some(kv_redb::Found { record, mut value }) = vault.look_full(&key)? {
            bytes += value.bytes();
            if bytes > most.1 && !noted.is_empty() {
                break;
            }
            let mut whole = Vec::new();
            while let Some(piece) = value.piece()? {
                whole.extend_from_slice(&piece);
            }
            found = Some((record, whole.into()));
        }
        noted.push(Noted { reached: Reached { key: key.clone(), at: 0 }, key, found });
    }
    Ok(noted)
}

/// Short values together, a long value in pieces.
async fn take(
    vault: &RedbStore,
    all: Vec<(String, Record, Bytes)>,
) -> Result<Vec<ApplyOutcome>, kv_redb::Error> {
    let is_long = |(_, record, _): &(String, Record, Bytes)| matches!(&record.content, Content::Value(about) if about.bytes > LONG);
    if !all.iter().any(is_long) {
        return vault.take(all).await;
    }
    let mut given = Vec::new();
    for (key, record, value) in all {
        let mut upload = vault.upload();
        match record.content {
            Content::Value(_) => {
                upload.add(&value).await?;
                given.push(upload.take(&key, record).await?);
            }
            Content::Deleted { .. } => given.extend(vault.take(vec![(key, record, value)]).await?),
        }
    }
    Ok(given)
}

/// Bytes above which a value is written in pieces.
const LONG: u64 = 256 << 10;
