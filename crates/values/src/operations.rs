//! What can be done with a key, and a page of keys. What writes runs to its end whatever becomes of its client: a copy in memory must
//! not outlive a write that the file has.

use std::{sync::Arc, time::Duration};

use http::StatusCode;
use kv::{Expiration, Key, Metadata, Page, Version};
use tokio::{
    sync::OwnedSemaphorePermit,
    task::{JoinError, spawn_blocking},
};
use vault::Listed;

use crate::{
    copies::Name,
    incoming::Incoming,
    problem::Problem,
    service::{Service, now},
    value::{Content, Found, Held, Source},
};

/// What a write says besides the value.
#[derive(Debug, Default)]
pub(crate) struct Beside {
    pub(crate) expiration: Option<Expiration>,
    pub(crate) metadata: Option<Metadata>,
    /// Bytes of the request's body, if it says so.
    pub(crate) length: Option<u64>,
    /// Whether the client waits to be told that its body is wanted.
    pub(crate) is_waiting: bool,
}

impl Service {
    /// The value of a key.
    pub(crate) async fn get(
        self: &Arc<Self>,
        namespace: &str,
        key: &Key,
        cache_ttl: Option<Duration>,
    ) -> Result<Option<Found>, Problem> {
        if let Some((held, age)) = self.copy(namespace, key.as_str(), cache_ttl) {
            return Ok(Some(Found {
                about: held.about.clone(),
                version: held.version.clone(),
                age,
                source: Source::Lower,
                content: Content::Whole(held.value.clone()),
            }));
        }
        self.counts.reads.add(1);
        self.read(namespace, key.as_str()).await
    }

    /// The copy of a key's value, and its age, if it may be the answer; it is read again beside that when it is time to. To be called in a
    /// runtime.
    pub(crate) fn copy(
        self: &Arc<Self>,
        namespace: &str,
        key: &str,
        cache_ttl: Option<Duration>,
    ) -> Option<(Arc<Held>, Duration)> {
        let (held, age, is_due) = self.copies.find(&Name::of(namespace, key), cache_ttl, self.elapsed())?;
        if held.about.is_past(now()) {
            return None;
        }
        if is_due {
            let (service, namespace, key) = (Arc::clone(self), namespace.to_owned(), key.to_owned());
            tokio::spawn(async move { service.read(&namespace, &key).await.map(drop) });
        }
        self.counts.reads.add(1);
        self.counts.hits.add(1);
        Some((held, age))
    }

    /// Reads a key from the file, and keeps a copy of a short value.
    async fn read(&self, namespace: &str, key: &str) -> Result<Option<Found>, Problem> {
        let vault = self.vault()?;
        let (ticket, asked) = (self.copies.ticket(&Name::of(namespace, key)), self.elapsed());
        let (owned_namespace, owned_key) = (namespace.to_owned(), key.to_owned());
        let looked_at = Arc::clone(&vault);
        let look = move || looked_at.look(&owned_namespace, &owned_key);
        let found = spawn_blocking(look).await.map_err(|error| ended(&error))??;
        let Some(vault::Found { record, value }) = found else { return Ok(None) };
        let Some(about) = record.value(now()).cloned() else { return Ok(None) };
        let version = record.version.to_string();
        let content = match value.whole() {
            Some(whole) => {
                let held = Held { value: whole.clone(), about: about.clone(), version: version.clone() };
                self.copies.keep(&Name::of(namespace, key), ticket, &Arc::new(held), asked);
                Content::Whole(whole)
            }
            None => Content::Pieces(Box::new(value), vault),
        };
        Ok(Some(Found { about, version, age: Duration::ZERO, source: Source::Store, content }))
    }

    /// Sets a key, durably.
    pub(crate) async fn put(
        self: &Arc<Self>,
        namespace: &str,
        key: Key,
        beside: Beside,
        incoming: Incoming,
    ) -> Result<Version, Problem> {
        let largest = self.largest();
        // A form is longer than its value.
        if let Some(length) = beside.length.filter(|&length| length > largest)
            && matches!(incoming, Incoming::Raw(_))
        {
            if !beside.is_waiting {
                incoming.throw_away().await;
            }
            return Err(Problem::too_large(length, largest));
        }
        let (service, namespace) = (Arc::clone(self), namespace.to_owned());
        let writing = async move { service.put_now(&namespace, &key, beside, incoming).await };
        tokio::spawn(writing).await.map_err(|error| ended(&error))?
    }

    async fn put_now(
        &self,
        namespace: &str,
        key: &Key,
        beside: Beside,
        mut incoming: Incoming,
    ) -> Result<Version, Problem> {
        let vault = self.vault()?;
        let mut upload = vault.upload();
        while let Some(data) = incoming.data().await? {
            let bytes = upload.bytes() + data.len() as u64;
            if bytes > self.largest() {
                drop(upload);
                let rest = incoming.throw_away().await;
                return Err(Problem::too_large(bytes + rest, self.largest()));
            }
            upload.add(&data).await?;
        }
        let metadata = match beside.metadata {
            Some(metadata) => Some(metadata),
            None => incoming.metadata()?,
        };
        let version = upload.finish(namespace, key.as_str(), beside.expiration, metadata).await?;
        self.wrote(namespace, [key.as_str()]);
        Ok(version)
    }

    /// Sets several keys, all or none, durably.
    pub(crate) async fn put_several(
        self: &Arc<Self>,
        namespace: &str,
        puts: Vec<vault::Put>,
        place: OwnedSemaphorePermit,
    ) -> Result<(), Problem> {
        let (service, namespace) = (Arc::clone(self), namespace.to_owned());
        let writing = async move {
            // Whatever becomes of the client, its values are in memory until they are written.
            let _place = place;
            let keys: Vec<_> = puts.iter().map(|put| put.key.clone()).collect();
            service.vault()?.put(&namespace, puts).await?;
            service.wrote(&namespace, keys.iter().map(String::as_str));
            Ok(())
        };
        tokio::spawn(writing).await.map_err(|error| ended(&error))?
    }

    /// Says that keys have no value any more, all or none, durably.
    pub(crate) async fn delete(
        self: &Arc<Self>,
        namespace: &str,
        keys: Vec<Key>,
    ) -> Result<Vec<Version>, Problem> {
        let (service, namespace) = (Arc::clone(self), namespace.to_owned());
        let writing = async move {
            let names: Vec<_> = keys.iter().map(Key::as_str).collect();
            let versions = service.vault()?.delete(&namespace, &names).await?;
            service.wrote(&namespace, names.iter().copied());
            Ok(versions)
        };
        tokio::spawn(writing).await.map_err(|error| ended(&error))?
    }

    /// A page of keys.
    pub(crate) async fn page(&self, namespace: &str, page: Page) -> Result<Listed, Problem> {
        let (vault, namespace) = (self.vault()?, namespace.to_owned());
        self.counts.lists.add(1);
        let list = move || vault.list(&namespace, &page);
        Ok(spawn_blocking(list).await.map_err(|error| ended(&error))??)
    }

    fn wrote<'k>(&self, namespace: &str, keys: impl IntoIterator<Item = &'k str>) {
        for key in keys {
            self.counts.writes.add(1);
            self.copies.forget(&Name::of(namespace, key));
        }
    }
}

/// A task that did not come to its end.
pub(crate) fn ended(error: &JoinError) -> Problem {
    tracing::error!(%error, "a task of the store ended");
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the store failed; its operator's log says why")
}
