//! What one of two stores keeps for the other, in a file or in NATS: which keys that may know less of, and what is known of keys in a range.

use http::Bytes;
use kv::{Content, Given, Known, Record, Span};
use tokio::task::spawn_blocking;
use vault::Vault;

use super::Store;
use crate::problem::{Problem, ended};

/// How far among the keys that are noted somebody has come.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reached {
    key: String,
    at: u64,
}

/// A key that is noted.
pub(crate) struct Noted {
    /// The key, with its namespace.
    pub(crate) key: String,
    /// What is known of it, and its value; `None` if nothing is any more.
    pub(crate) found: Option<(Record, Bytes)>,
    /// Up to this key.
    pub(crate) reached: Reached,
}

impl Store {
    /// Keys of which the other store may know less, behind those: so many at most, and no more bytes of values but for the first.
    pub(crate) async fn notes(&self, after: Reached, most: (usize, u64)) -> Result<Vec<Noted>, Problem> {
        match self {
            Self::File(vault) => {
                let vault = vault.clone();
                let read = spawn_blocking(move || notes(&vault, &after.key, most)).await;
                Ok(read.map_err(|error| ended(&error))??)
            }
            Self::Nats(bucket) => {
                let noted = |jetstream::Noted { key, at, found }| Noted {
                    reached: Reached { key: String::new(), at },
                    found: found.map(|jetstream::Found { record, value }| (record, value)),
                    key,
                };
                Ok(bucket.notes(after.at, most).await?.into_iter().map(noted).collect())
            }
        }
    }

    /// What is known of keys in a span that are compared, so many at most and with no more bytes of names than that; and where it ends.
    pub(crate) async fn known(
        &self,
        span: Span,
        most: (usize, usize),
    ) -> Result<(Vec<Known>, Option<String>), Problem> {
        let store = self.clone();
        let known = move || match store {
            Self::File(vault) => Ok::<_, Problem>(vault.known(&span, most)?),
            Self::Nats(bucket) => Ok(bucket.known(&span, most)?),
        };
        spawn_blocking(known).await.map_err(|error| ended(&error))?
    }

    /// Takes what the other store knows of keys, durably; says for each what became of it. `None` is what this store has no room for in one message.
    pub(crate) async fn take(
        &self,
        all: Vec<(String, Record, Bytes)>,
    ) -> Result<Vec<Option<Given>>, Problem> {
        match self {
            Self::File(vault) => Ok(take(vault, all).await?.into_iter().map(Some).collect()),
            Self::Nats(bucket) => Ok(bucket.take(all).await?),
        }
    }

    /// Notes that the other store may know less of keys, durably.
    pub(crate) async fn note(&self, full_keys: Vec<String>) -> Result<(), Problem> {
        match self {
            Self::File(vault) => Ok(vault.note(full_keys).await?),
            Self::Nats(bucket) => Ok(bucket.note(&full_keys).await?),
        }
    }

    /// Notes that the other store knows this of keys; what was written since stays noted.
    pub(crate) async fn unnote(&self, known: Vec<Known>) -> Result<(), Problem> {
        match self {
            Self::File(vault) => Ok(vault.unnote(known).await?),
            Self::Nats(bucket) => {
                bucket.unnote(&known);
                Ok(())
            }
        }
    }

    /// Notes that the other store has no keys that this one has never had.
    pub(crate) async fn filled(&self) -> Result<(), Problem> {
        match self {
            Self::File(vault) => Ok(vault.filled().await?),
            Self::Nats(bucket) => Ok(bucket.filled().await?),
        }
    }

    /// Whether it lacks acknowledged keys that the other store may have: a list would be short.
    pub(crate) fn is_short(&self) -> bool {
        match self {
            Self::File(_) => false,
            Self::Nats(bucket) => bucket.is_short(),
        }
    }

    /// Whether the other store may have keys that this one has never had.
    pub(crate) fn is_filling(&self) -> bool {
        match self {
            Self::File(vault) => vault.usage().is_filling,
            Self::Nats(bucket) => bucket.is_filling(),
        }
    }
}

/// Reads what is noted in a file. Blocks.
fn notes(vault: &Vault, after: &str, most: (usize, u64)) -> Result<Vec<Noted>, vault::Error> {
    let (mut noted, mut bytes) = (Vec::new(), 0);
    for key in vault.notes(after, most.0)? {
        let mut found = None;
        if let Some(vault::Found { record, mut value }) = vault.look_full(&key)? {
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

/// Takes records into a file: short ones together, each long one in pieces.
async fn take(vault: &Vault, all: Vec<(String, Record, Bytes)>) -> Result<Vec<Given>, vault::Error> {
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

/// Bytes of a value that is written in pieces.
const LONG: u64 = 256 << 10;
