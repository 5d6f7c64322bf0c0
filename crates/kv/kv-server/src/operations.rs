//! Operations on keys and pages of keys. A write continues if its client disconnects.

use std::{sync::Arc, time::Duration};

use kv::{Expiration, Key, Listed, Metadata, Page, ReadOptions, Tier, Version};
use tokio::sync::OwnedSemaphorePermit;

use crate::{
    api_error::{ApiError, ended},
    replication::{ReadQuery, filling},
    request_body::RequestBody,
    service::{Service, now},
    store::Bytes,
    value::{Content, Found, MemoryValue, NotFound},
    value_cache::Name,
    value_stream::ValueStream,
};

#[derive(Debug, Default)]
pub(crate) struct WriteOptions {
    pub(crate) expiration: Option<Expiration>,
    pub(crate) metadata: Option<Metadata>,
    /// The Content-Length of the request, if present.
    pub(crate) length: Option<u64>,
    /// The client waits for `100 Continue`.
    pub(crate) is_waiting: bool,
    /// Present if another data centre has assigned one.
    pub(crate) version: Option<Version>,
}

impl Service {
    pub(crate) async fn get(
        self: &Arc<Self>,
        namespace: &str,
        key: &Key,
        cache_ttl: Option<Duration>,
    ) -> Result<Result<Found, NotFound>, ApiError> {
        if let Some((held, age)) = self.copy(namespace, key.as_str(), cache_ttl) {
            return Ok(Ok(Found {
                about: held.about.clone(),
                version: held.version.clone(),
                age,
                source: Tier::Lower,
                content: Content::Whole(held.value.clone()),
            }));
        }
        let found = match self.store_elsewhere() {
            None => match self.read(namespace, key.as_str()).await {
                Ok(found) => self.read_beside_other(namespace, key.as_str(), found).await,
                Err(problem) => self.read_from_other(namespace, key.as_str()).await.ok_or(problem),
            },
            Some((linked, _)) => {
                let wanted = ReadOptions { within: None, cache_ttl };
                let (namespace, key) = (namespace.to_owned(), key.as_str().to_owned());
                let question = ReadQuery::new(namespace, key, Tier::Lower, wanted);
                Box::pin(self.read_far(linked, question)).await
            }
        };
        self.counts.reads.add(1);
        let source = match &found {
            Ok(Ok(found)) => Some(found.source),
            Ok(Err(absent)) => Some(absent.source),
            Err(_) => None,
        };
        match source {
            Some(Tier::Lower) => self.counts.hits.add(1),
            Some(Tier::Regional) => self.counts.from_regional.add(1),
            Some(Tier::Upper) => self.counts.from_upper.add(1),
            Some(Tier::Store) => self.counts.from_store.add(1),
            None => {}
        }
        found
    }

    /// Starts a refresh if one is due. To be called in a runtime.
    pub(crate) fn copy(
        self: &Arc<Self>,
        namespace: &str,
        key: &str,
        cache_ttl: Option<Duration>,
    ) -> Option<(Arc<MemoryValue>, Duration)> {
        let wanted = ReadOptions { within: None, cache_ttl };
        let (held, age, is_due) =
            self.copies.find_value(&Name::of(namespace, key), wanted, self.elapsed())?;
        if held.about.is_past(now()) {
            return None;
        }
        if is_due {
            match self.store_elsewhere() {
                None => self.read_beside(namespace, key),
                Some((linked, _)) => {
                    let (namespace, key) = (namespace.to_owned(), key.to_owned());
                    self.refresh(linked, ReadQuery::new(namespace, key, Tier::Lower, wanted), false);
                }
            }
        }
        self.counts.reads.add(1);
        self.counts.hits.add(1);
        Some((held, age))
    }

    pub(crate) fn read_beside(self: &Arc<Self>, namespace: &str, key: &str) {
        let (service, namespace, key) = (Arc::clone(self), namespace.to_owned(), key.to_owned());
        tokio::spawn(async move { service.read(&namespace, &key).await.map(drop) });
    }

    /// Keeps a copy if the value is short.
    pub(crate) async fn read(&self, namespace: &str, key: &str) -> Result<Result<Found, NotFound>, ApiError> {
        let (ticket, asked) = (self.copies.ticket(&Name::of(namespace, key)), self.elapsed());
        let found = self.read_only(namespace, key).await?;
        if let Ok(Found { about, version, content: Content::Whole(value), .. }) = &found {
            let held = MemoryValue { value: value.clone(), about: about.clone(), version: version.clone() };
            self.copies.keep(&Name::of(namespace, key), ticket, &Arc::new(held), asked);
        }
        Ok(found)
    }

    pub(crate) async fn read_only(
        &self,
        namespace: &str,
        key: &str,
    ) -> Result<Result<Found, NotFound>, ApiError> {
        let store = self.store()?;
        let found = store.look(namespace, key).await?;
        let (age, source) = (Duration::ZERO, Tier::Store);
        let Some((record, bytes)) = found else {
            return Ok(Err(NotFound { version: None, age, source }));
        };
        let version = record.version.to_string();
        let Some(about) = record.value(now()).cloned() else {
            return Ok(Err(NotFound { version: Some(version), age, source }));
        };
        let content = match bytes {
            Bytes::Whole(whole) => Content::Whole(whole),
            Bytes::Pieces(mut reading) => Content::Pieces(ValueStream::new(move || {
                // It is closed only after its last reader.
                let _ = &store;
                Ok(reading.piece()?)
            })),
        };
        Ok(Ok(Found { about, version, age, source, content }))
    }

    pub(crate) async fn put(
        self: &Arc<Self>,
        namespace: &str,
        key: Key,
        beside: WriteOptions,
        incoming: RequestBody,
    ) -> Result<Version, ApiError> {
        // The Content-Length of a form includes more than the value.
        if matches!(incoming, RequestBody::Raw(_))
            && let Err(problem) = self.refuse_long(&beside)
        {
            if !beside.is_waiting {
                incoming.throw_away().await;
            }
            return Err(problem);
        }
        let (service, namespace) = (Arc::clone(self), namespace.to_owned());
        let writing = async move { service.put_now(&namespace, &key, beside, incoming).await };
        tokio::spawn(writing).await.map_err(|error| ended(&error))?
    }

    pub(crate) fn refuse_long(&self, beside: &WriteOptions) -> Result<(), ApiError> {
        beside.length.map_or(Ok(()), |length| self.check_length(length))
    }

    async fn put_now(
        self: &Arc<Self>,
        namespace: &str,
        key: &Key,
        beside: WriteOptions,
        mut incoming: RequestBody,
    ) -> Result<Version, ApiError> {
        let store = self.store()?;
        let mut upload = store.upload();
        while let Some(data) = incoming.data().await? {
            let bytes = upload.bytes() + data.len() as u64;
            if self.check_length(bytes).is_err() {
                drop(upload);
                let all = bytes + incoming.throw_away().await;
                return self.check_length(all).and(Err(ApiError::too_large(all, self.largest())));
            }
            upload.add(&data).await?;
        }
        let metadata = match beside.metadata {
            Some(metadata) => Some(metadata),
            None => incoming.metadata()?,
        };
        let version =
            upload.finish((namespace, key.as_str()), (beside.expiration, metadata), beside.version).await?;
        self.wrote(namespace, std::iter::once((key.as_str(), &version)));
        Ok(version)
    }

    /// All or none in a file. The first key gets the version `first` if present. Returns the lowest
    /// version.
    pub(crate) async fn put_several(
        self: &Arc<Self>,
        namespace: &str,
        mut puts: Vec<kv_redb::Put>,
        first: Option<Version>,
        place: OwnedSemaphorePermit,
    ) -> Result<Option<Version>, ApiError> {
        for (number, put) in puts.iter_mut().enumerate() {
            put.version = first.as_ref().map(|first| first.nth(number));
        }
        let (service, namespace) = (Arc::clone(self), namespace.to_owned());
        let writing = async move {
            // Until they are written, even if the client disconnects.
            let _place = place;
            let keys: Vec<_> = puts.iter().map(|put| put.key.clone()).collect();
            let versions = service.store()?.put(&namespace, puts).await?;
            service.wrote(&namespace, keys.iter().map(String::as_str).zip(&versions));
            Ok(versions.into_iter().min())
        };
        tokio::spawn(writing).await.map_err(|error| ended(&error))?
    }

    /// All or none in a file. The first key gets the version `first` if present.
    pub(crate) async fn delete(
        self: &Arc<Self>,
        namespace: &str,
        keys: Vec<Key>,
        first: Option<Version>,
    ) -> Result<Vec<Version>, ApiError> {
        let (service, namespace) = (Arc::clone(self), namespace.to_owned());
        let writing = async move {
            let version = |number| first.as_ref().map(|first| first.nth(number));
            let names: Vec<_> =
                keys.iter().enumerate().map(|(number, key)| (key.as_str(), version(number))).collect();
            let versions = service.store()?.delete(&namespace, &names).await?;
            service.wrote(&namespace, names.iter().map(|(key, _)| *key).zip(&versions));
            Ok(versions)
        };
        tokio::spawn(writing).await.map_err(|error| ended(&error))?
    }

    pub(crate) async fn page(&self, namespace: &str, page: Page) -> Result<Listed, ApiError> {
        let store = self.store()?;
        if store.is_short() && self.linked.as_ref().is_some_and(|linked| linked.other_store().is_some()) {
            return Err(filling());
        }
        self.counts.lists.add(1);
        store.list(namespace, page).await
    }

    fn wrote<'k>(
        self: &Arc<Self>,
        namespace: &str,
        written: impl Iterator<Item = (&'k str, &'k Version)> + Clone,
    ) {
        for (key, version) in written.clone() {
            self.counts.writes.add(1);
            self.copies.forget_older(&Name::of(namespace, key), &version.to_string());
        }
        self.tell(namespace, written.map(|(key, version)| (key, version.to_string())));
        if let Some(linked) = &self.linked {
            linked.noted.notify_one();
        }
    }
}
