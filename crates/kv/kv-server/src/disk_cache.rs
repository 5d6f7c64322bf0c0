//! Copies of values on disk, if the store is in another data centre. A value that was received once
//! need not be sent again until the key is written.
//!
//! A value is stored without its age: a reader must learn from another data centre that its version
//! is still the newest.

use std::sync::{Arc, PoisonError, RwLock};

use http_stack::{Body, Bytes, StatusCode};
use kv::{Content, Record, ValueMeta};
use segment_store::{Config, Error, Found, State, Store, Writer};
use tokio::{
    sync::Semaphore,
    task::{JoinError, spawn_blocking},
};

use crate::{
    api_error::ApiError,
    counts::OnDisk,
    value::{DiskValue, MemoryValue},
    value_cache::Name,
    value_stream::ValueStream,
};

pub(crate) struct DiskCache {
    config: Config,
    /// The error if the store is not open, for example because another process has locked it.
    store: RwLock<Result<Store, String>>,
    turns: Arc<Semaphore>,
}

impl DiskCache {
    /// Blocks.
    pub(crate) fn open(config: Config) -> Self {
        let turns = Arc::new(Semaphore::new(AT_ONCE));
        let shelf = Self { config, store: RwLock::new(Err(String::new())), turns };
        shelf.reopen();
        shelf
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.store().is_none()
    }

    /// Another process may have locked the directory. Blocks.
    pub(crate) fn reopen(&self) {
        let mut store = self.store.write().unwrap_or_else(PoisonError::into_inner);
        let Err(before) = &*store else { return };
        *store = Store::open(self.config.clone()).map(|(opened, _)| opened).map_err(|error| {
            let why = error.to_string();
            if *before != why && !matches!(error, Error::Locked { .. }) {
                tracing::warn!(%error, "copies of values are kept in memory only");
            }
            why
        });
    }

    /// Blocks.
    pub(crate) fn close(&self) {
        let mut store = self.store.write().unwrap_or_else(PoisonError::into_inner);
        if let Ok(open) = &*store {
            open.release();
            *store = Err(Error::Released.to_string());
        }
    }

    /// Without the bytes.
    pub(crate) async fn find(&self, name: &Name) -> Option<Arc<DiskValue>> {
        // For most keys, the index in memory shows that there is no value.
        let store = self.store().filter(|store| store.contains(name.as_bytes()))?;
        let name = name.clone();
        let (_, shelved) = spawn_blocking(move || newest(&store, &name)).await.ok()??;
        Some(Arc::new(shelved))
    }

    pub(crate) async fn read(&self, name: &Name, version: &str) -> Option<ValueStream> {
        let (store, name, version) = (self.store()?, name.clone(), version.to_owned());
        let reading = spawn_blocking(move || {
            let (found, shelved) = newest(&store, &name)?;
            (shelved.version == version).then(|| store.read(&found, ..))
        });
        let mut reading = reading.await.ok()??;
        Some(ValueStream::new(move || match reading.next() {
            None => Ok(None),
            Some(Ok(piece)) => Ok(Some(Bytes::from_owner(piece))),
            Some(Err(error)) => Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string())),
        }))
    }

    /// Returns whether it succeeded.
    pub(crate) async fn put(&self, name: &Name, held: &Arc<MemoryValue>) -> bool {
        let (Some(store), Ok(_turn)) = (self.store(), Arc::clone(&self.turns).try_acquire_owned()) else {
            return false;
        };
        let (name, held) = (name.clone(), Arc::clone(held));
        let storing = spawn_blocking(move || {
            let mut writer = begin(&store, &name, &held.about, &held.version)?;
            writer.write(&held.value)?;
            finish(&store, &name, writer)
        });
        is_stored(&storing.await)
    }

    /// Continues if the client disconnects. Calls `then` when the value is stored.
    pub(crate) fn pour(
        &self,
        name: &Name,
        shelved: &Arc<DiskValue>,
        body: Body,
        then: impl FnOnce() + Send + 'static,
    ) -> Body {
        let (Some(store), Ok(turn)) = (self.store(), Arc::clone(&self.turns).try_acquire_owned()) else {
            return body;
        };
        let Ok(writer) = begin(&store, name, &shelved.about, &shelved.version) else { return body };
        let (bytes, name, (sender, passed)) = (shelved.about.bytes, name.clone(), Body::channel(2));
        tokio::spawn(async move {
            let _turn = turn;
            // Dropping the sender without `finish` truncates the client's body too.
            let Some((writer, sender)) = written(body, writer, sender).await else { return };
            if let Some(writer) = writer.filter(|writer| writer.length() == bytes)
                && is_stored(&spawn_blocking(move || finish(&store, &name, writer)).await)
            {
                then();
            }
            if let Some(sender) = sender {
                let _ = sender.finish().await;
            }
        });
        passed
    }

    pub(crate) fn report(&self) -> OnDisk {
        let store = match &*self.store.read().unwrap_or_else(PoisonError::into_inner) {
            Ok(store) => store.clone(),
            Err(why) => return OnDisk { values: 0, bytes: 0, error: Some(why.clone()) },
        };
        let usage = store.usage();
        let error = match store.state() {
            State::Failing { last, .. } => Some(last),
            State::Working | State::Released => None,
        };
        OnDisk { values: usage.objects, bytes: usage.bytes, error }
    }

    fn store(&self) -> Option<Store> {
        self.store.read().unwrap_or_else(PoisonError::into_inner).as_ref().ok().cloned()
    }
}

/// Continues with one of them if the other fails. `None` if the body ends early or both have
/// failed.
async fn written(
    mut body: Body,
    writer: Writer,
    sender: http_stack::body::Sender,
) -> Option<(Option<Writer>, Option<http_stack::body::Sender>)> {
    let (mut writer, mut sender) = (Some(writer), Some(sender));
    while let Some(piece) = body.data().await.ok()? {
        if let Some(mut open) = writer.take() {
            let piece = piece.clone();
            let stored = spawn_blocking(move || open.write(&piece).map(|()| open)).await;
            writer = stored.ok().and_then(Result::ok);
        }
        if let Some(open) = sender.take() {
            sender = open.send(piece).await.is_ok().then_some(open);
        }
        if writer.is_none() && sender.is_none() {
            return None;
        }
    }
    Some((writer, sender))
}

fn begin(store: &Store, name: &Name, about: &ValueMeta, version: &str) -> Result<Writer, Error> {
    let version = version.parse().map_err(|_| Error::Incomplete)?;
    let head = Record { version, content: Content::Value(about.clone()) }.encode();
    store.begin(name.as_bytes(), &head)
}

/// Removes older values of the key, but not values that were started later.
fn finish(store: &Store, name: &Name, writer: Writer) -> Result<(), Error> {
    let id = writer.finish()?;
    for older in store.find(name.as_bytes())?.into_iter().skip_while(|one| one.id != id).skip(1) {
        store.remove(older.id)?;
    }
    Ok(())
}

fn is_stored(done: &Result<Result<(), Error>, JoinError>) -> bool {
    if let Ok(Err(error)) = done {
        tracing::debug!(%error, "a value is not stored on disk");
    }
    matches!(done, Ok(Ok(())))
}

fn newest(store: &Store, name: &Name) -> Option<(Found, DiskValue)> {
    let found = store.find(name.as_bytes()).ok()?.into_iter().next()?;
    let Record { version, content } = Record::decode(&found.head).ok()?;
    let Content::Value(about) = content else { return None };
    let shelved = DiskValue { about, version: version.to_string() };
    (shelved.about.bytes == found.length).then_some((found, shelved))
}

/// Further values are kept in memory only.
const AT_ONCE: usize = 16;
