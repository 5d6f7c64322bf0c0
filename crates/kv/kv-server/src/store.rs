//! The interface to the store: a local file or a NATS stream.

pub(crate) mod paired;

use std::sync::Arc;

use kv::{Expiration, Listed, Metadata, Millis, Page, Record, Version};
use kv_nats::{Bucket, RemoteWriteFeed};
use kv_redb::{Origin, Put, Reading, RedbStore, Scrub};
use tokio::task::spawn_blocking;

use crate::{
    Error,
    api_error::{ApiError, ended},
    config::{Config, Place},
    refused_stream::RefusedStream,
};

#[derive(Debug, Clone)]
pub(crate) enum Store {
    File(Arc<RedbStore>),
    Nats(Arc<Bucket>),
}

pub(crate) enum Bytes {
    Whole(http_stack::Bytes),
    Pieces(Box<Reading>),
}

pub(crate) struct Usage {
    pub(crate) keys: u64,
    pub(crate) bytes: u64,
    /// Keys to be replicated to the other store.
    pub(crate) noted: u64,
    /// The other store may have old keys that this one lacks.
    pub(crate) is_filling: bool,
    pub(crate) damaged_blocks: Option<u64>,
}

pub(crate) enum Upload<'s> {
    File(kv_redb::Upload<'s>),
    /// NATS needs the whole message.
    Nats(&'s Bucket, Vec<u8>),
}

impl Store {
    /// `now` reads the wall clock. Blocks.
    pub(crate) fn open(place: &Place, config: &Config, now: fn() -> Millis) -> Result<Self, Error> {
        let name = config.name.clone();
        Ok(match place {
            Place::File(path) => {
                let memory = usize::try_from(config.memory / 2).unwrap_or(usize::MAX);
                let config = kv_redb::Config { path: path.clone(), name, memory, company: config.company };
                let vault = RedbStore::open(&config, now)?;
                match vault.origin() {
                    Origin::New => tracing::info!(file = %path.display(), "a new store was created"),
                    Origin::Upgraded => {
                        tracing::info!(file = %path.display(), "the store was rewritten with checksums");
                    }
                    Origin::Known => {}
                }
                Self::File(Arc::new(vault))
            }
            Place::Nats(address) => Self::Nats(Arc::new(Bucket::open(
                address.clone(),
                name,
                config.company,
                config.streams.as_deref(),
                now,
            )?)),
        })
    }

    pub(crate) async fn look(&self, namespace: &str, key: &str) -> Result<Option<(Record, Bytes)>, ApiError> {
        let vault = match self {
            Self::File(vault) => Arc::clone(vault),
            Self::Nats(bucket) => {
                let found = bucket.look(namespace, key).await?;
                return Ok(found.map(|found| (found.record, Bytes::Whole(found.value))));
            }
        };
        let (namespace, key) = (namespace.to_owned(), key.to_owned());
        let look = move || vault.look(&namespace, &key);
        let found = spawn_blocking(look).await.map_err(|error| ended(&error))??;
        Ok(found.map(|kv_redb::Found { record, value }| {
            let bytes = match value.whole() {
                Some(whole) => Bytes::Whole(whole),
                None => Bytes::Pieces(Box::new(value)),
            };
            (record, bytes)
        }))
    }

    pub(crate) async fn list(&self, namespace: &str, page: Page) -> Result<Listed, ApiError> {
        let (store, namespace) = (self.clone(), namespace.to_owned());
        let list = move || match store {
            Self::File(vault) => Ok::<_, ApiError>(vault.list(&namespace, &page)?),
            Self::Nats(bucket) => Ok(bucket.list(&namespace, &page)?),
        };
        spawn_blocking(list).await.map_err(|error| ended(&error))?
    }

    pub(crate) fn upload(&self) -> Upload<'_> {
        match self {
            Self::File(vault) => Upload::File(vault.upload()),
            Self::Nats(bucket) => Upload::Nats(bucket, Vec::new()),
        }
    }

    /// In a file all or none.
    pub(crate) async fn put(&self, namespace: &str, puts: Vec<Put>) -> Result<Vec<Version>, ApiError> {
        match self {
            Self::File(vault) => Ok(vault.put(namespace, puts).await?),
            Self::Nats(bucket) => {
                let put = |put: Put| {
                    let Put { key, value, expiration, metadata, version } = put;
                    kv_nats::Put { key, value, expiration, metadata, version }
                };
                Ok(bucket.put(namespace, puts.into_iter().map(put).collect()).await?)
            }
        }
    }

    /// In a file all or none.
    pub(crate) async fn delete(
        &self,
        namespace: &str,
        keys: &[(&str, Option<Version>)],
    ) -> Result<Vec<Version>, ApiError> {
        match self {
            Self::File(vault) => Ok(vault.delete(namespace, keys).await?),
            Self::Nats(bucket) => Ok(bucket.delete(namespace, keys).await?),
        }
    }

    /// Returns the namespaces and keys of expired values, and whether more have expired.
    pub(crate) async fn sweep(&self) -> Result<(Vec<(String, String)>, bool), Error> {
        match self {
            Self::File(vault) => match vault.sweep().await {
                Err(kv_redb::Error::Released) => Ok((Vec::new(), false)),
                swept => Ok(swept?),
            },
            Self::Nats(bucket) => Ok(bucket.sweep().await?),
        }
    }

    /// If the store is a file.
    pub(crate) fn scrub(&self) -> Option<Scrub> {
        match self {
            Self::File(vault) => Some(vault.scrub()),
            Self::Nats(_) => None,
        }
    }

    pub(crate) fn usage(&self) -> Usage {
        match self {
            Self::File(vault) => {
                let kv_redb::Usage { keys, bytes, noted, is_filling, damaged_blocks, .. } = vault.usage();
                Usage { keys, bytes, noted, is_filling, damaged_blocks: Some(damaged_blocks) }
            }
            Self::Nats(bucket) => {
                let kv_nats::Usage { keys, bytes, noted } = bucket.usage();
                Usage { keys, bytes, noted, is_filling: bucket.is_filling(), damaged_blocks: None }
            }
        }
    }

    /// Why an open store is unavailable.
    pub(crate) fn trouble(&self) -> Option<String> {
        match self {
            Self::File(_) => None,
            Self::Nats(bucket) => bucket.trouble(),
        }
    }

    pub(crate) fn refused(&self) -> Option<RefusedStream> {
        match self {
            Self::File(_) => None,
            Self::Nats(bucket) => bucket.loss().map(RefusedStream::from),
        }
    }

    pub(crate) fn check(&self) -> Result<(), ApiError> {
        match self {
            Self::File(_) => Ok(()),
            Self::Nats(bucket) => Ok(bucket.check()?),
        }
    }

    /// In bytes, if the store has a limit.
    pub(crate) fn most_bytes(&self) -> Option<u64> {
        match self {
            Self::File(_) => None,
            Self::Nats(bucket) => bucket.most_bytes(),
        }
    }

    pub(crate) fn ears(&self) -> Option<RemoteWriteFeed> {
        match self {
            Self::File(_) => None,
            Self::Nats(bucket) => Some(bucket.ears()),
        }
    }

    pub(crate) fn is_in_use(&self) -> bool {
        let owners = match self {
            Self::File(vault) => Arc::strong_count(vault),
            Self::Nats(bucket) => Arc::strong_count(bucket),
        };
        owners > 1
    }

    /// Blocks; not to be called in a runtime.
    pub(crate) fn close(&self) {
        match self {
            Self::File(vault) => vault.close(),
            Self::Nats(bucket) => bucket.close(),
        }
    }
}

impl Upload<'_> {
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::File(upload) => upload.bytes(),
            Self::Nats(_, bytes) => bytes.len() as u64,
        }
    }

    pub(crate) async fn add(&mut self, more: &[u8]) -> Result<(), ApiError> {
        match self {
            Self::File(upload) => Ok(upload.add(more).await?),
            Self::Nats(_, bytes) => {
                bytes.extend_from_slice(more);
                Ok(())
            }
        }
    }

    /// With `version` if another data centre has assigned one.
    pub(crate) async fn finish(
        self,
        (namespace, key): (&str, &str),
        (expiration, metadata): (Option<Expiration>, Option<Metadata>),
        version: Option<Version>,
    ) -> Result<Version, ApiError> {
        match self {
            Self::File(upload) => {
                Ok(upload.finish((namespace, key), (expiration, metadata), version).await?)
            }
            Self::Nats(bucket, bytes) => {
                let (key, value) = (key.to_owned(), bytes.into());
                let put = kv_nats::Put { key, value, expiration, metadata, version };
                let versions = bucket.put(namespace, vec![put]).await?;
                versions.into_iter().next().ok_or_else(|| kv_nats::Error::Busy.into())
            }
        }
    }
}
