//! What can be done with a key, and a page of keys. What writes runs to its end whatever becomes of its client: a copy in memory must
//! not outlive a write that the file has.

use std::{sync::Arc, time::Duration};

use kv::{Expiration, Key, Listed, Metadata, Page, Tier, Version, Wanted};
use tokio::sync::OwnedSemaphorePermit;

use crate::{
    copies::Name,
    incoming::Incoming,
    linked::{Question, filling},
    pieces::Pieces,
    problem::{Problem, ended},
    service::{Service, now},
    store::Bytes,
    value::{Absent, Content, Found, Held},
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
    /// The version that it has, if another data centre made one.
    pub(crate) version: Option<Version>,
}

impl Service {
    /// The value of a key.
    pub(crate) async fn get(
        self: &Arc<Self>,
        namespace: &str,
        key: &Key,
        cache_ttl: Option<Duration>,
    ) -> Result<Result<Found, Absent>, Problem> {
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
                let wanted = Wanted { within: None, cache_ttl };
                let (namespace, key) = (namespace.to_owned(), key.as_str().to_owned());
                let question = Question::new(namespace, key, Tier::Lower, wanted);
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

    /// The copy of a key's value, and its age, if it may be the answer; it is read again beside that when it is time to. To be called in a
    /// runtime.
    pub(crate) fn copy(
        self: &Arc<Self>,
        namespace: &str,
        key: &str,
        cache_ttl: Option<Duration>,
    ) -> Option<(Arc<Held>, Duration)> {
        let wanted = Wanted { within: None, cache_ttl };
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
                    self.refresh(linked, Question::new(namespace, key, Tier::Lower, wanted), false);
                }
            }
        }
        self.counts.reads.add(1);
        self.counts.hits.add(1);
        Some((held, age))
    }

    /// Reads a key from the file beside a copy of it that is the answer.
    pub(crate) fn read_beside(self: &Arc<Self>, namespace: &str, key: &str) {
        let (service, namespace, key) = (Arc::clone(self), namespace.to_owned(), key.to_owned());
        tokio::spawn(async move { service.read(&namespace, &key).await.map(drop) });
    }

    /// Reads a key from the file, and keeps a copy of a short value.
    pub(crate) async fn read(&self, namespace: &str, key: &str) -> Result<Result<Found, Absent>, Problem> {
        let (ticket, asked) = (self.copies.ticket(&Name::of(namespace, key)), self.elapsed());
        let found = self.read_only(namespace, key).await?;
        if let Ok(Found { about, version, content: Content::Whole(value), .. }) = &found {
            let held = Held { value: value.clone(), about: about.clone(), version: version.clone() };
            self.copies.keep(&Name::of(namespace, key), ticket, &Arc::new(held), asked);
        }
        Ok(found)
    }

    /// Reads a key from the file.
    pub(crate) async fn read_only(
        &self,
        namespace: &str,
        key: &str,
    ) -> Result<Result<Found, Absent>, Problem> {
        let store = self.store()?;
        let found = store.look(namespace, key).await?;
        let (age, source) = (Duration::ZERO, Tier::Store);
        let Some((record, bytes)) = found else {
            return Ok(Err(Absent { version: None, age, source }));
        };
        let version = record.version.to_string();
        let Some(about) = record.value(now()).cloned() else {
            return Ok(Err(Absent { version: Some(version), age, source }));
        };
        let content = match bytes {
            Bytes::Whole(whole) => Content::Whole(whole),
            Bytes::Pieces(mut reading) => Content::Pieces(Pieces::new(move || {
                // The store waits for it before it leaves its file.
                let _ = &store;
                Ok(reading.piece()?)
            })),
        };
        Ok(Ok(Found { about, version, age, source, content }))
    }

    /// Sets a key, durably.
    pub(crate) async fn put(
        self: &Arc<Self>,
        namespace: &str,
        key: Key,
        beside: Beside,
        incoming: Incoming,
    ) -> Result<Version, Problem> {
        // A form is longer than its value.
        if matches!(incoming, Incoming::Raw(_))
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

    /// Refuses a value that says that it is too long.
    pub(crate) fn refuse_long(&self, beside: &Beside) -> Result<(), Problem> {
        beside.length.map_or(Ok(()), |length| self.check_length(length))
    }

    async fn put_now(
        self: &Arc<Self>,
        namespace: &str,
        key: &Key,
        beside: Beside,
        mut incoming: Incoming,
    ) -> Result<Version, Problem> {
        let store = self.store()?;
        let mut upload = store.upload();
        while let Some(data) = incoming.data().await? {
            let bytes = upload.bytes() + data.len() as u64;
            if self.check_length(bytes).is_err() {
                drop(upload);
                let all = bytes + incoming.throw_away().await;
                return self.check_length(all).and(Err(Problem::too_large(all, self.largest())));
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

    /// Sets several keys, all or none, durably; the first one with this version, if another data centre made it. Returns the first of their
    /// versions.
    pub(crate) async fn put_several(
        self: &Arc<Self>,
        namespace: &str,
        mut puts: Vec<vault::Put>,
        first: Option<Version>,
        place: OwnedSemaphorePermit,
    ) -> Result<Option<Version>, Problem> {
        for (number, put) in puts.iter_mut().enumerate() {
            put.version = first.as_ref().map(|first| first.nth(number));
        }
        let (service, namespace) = (Arc::clone(self), namespace.to_owned());
        let writing = async move {
            // Whatever becomes of the client, its values are in memory until they are written.
            let _place = place;
            let keys: Vec<_> = puts.iter().map(|put| put.key.clone()).collect();
            let versions = service.store()?.put(&namespace, puts).await?;
            service.wrote(&namespace, keys.iter().map(String::as_str).zip(&versions));
            Ok(versions.into_iter().min())
        };
        tokio::spawn(writing).await.map_err(|error| ended(&error))?
    }

    /// Says that keys have no value any more, all or none, durably; the first one with this version, if another data centre made it.
    pub(crate) async fn delete(
        self: &Arc<Self>,
        namespace: &str,
        keys: Vec<Key>,
        first: Option<Version>,
    ) -> Result<Vec<Version>, Problem> {
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

    /// A page of keys.
    pub(crate) async fn page(&self, namespace: &str, page: Page) -> Result<Listed, Problem> {
        let store = self.store()?;
        if store.is_short() && self.linked.as_ref().is_some_and(|linked| linked.other_store().is_some()) {
            return Err(filling());
        }
        self.counts.lists.add(1);
        store.list(namespace, page).await
    }

    /// No copy here is older than what was written, and other data centres are told; the other store, if there is one, is given it.
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
