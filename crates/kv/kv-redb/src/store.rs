//! The key-value store in a file: reads, writes, lists and expiration.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
};

use bytes::Bytes;
use kv::{Expiration, HybridClock, Listed, Metadata, Millis, Page, Pairing, StoreName, ValueMeta, Version};
use redb::ReadableTable as _;
use tokio::sync::{mpsc, oneshot};

use crate::{
    Error, Found, Upload,
    disk_reserve::Reserve,
    file::{File, Opening, Origin, Setup, opening},
    init::prepare,
    layout::{DUE, full_key},
    list::list,
    mutation::{Applied, Mutation},
    read::look,
    writer::{ExpiredBatch, WriteCommand, Writer, WriterStats},
};

/// The location and the name of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The file; created if it is missing.
    pub path: PathBuf,
    /// The name of a new store. An existing store keeps its name.
    pub name: StoreName,
    /// The size of the page cache in bytes.
    pub memory: usize,
    /// Whether there is another store of the same values.
    pub company: Pairing,
}

/// A store. It is closed when it is dropped.
pub struct RedbStore {
    pub(crate) file: Arc<File>,
    name: StoreName,
    orders: mpsc::Sender<WriteCommand>,
    next_value: Arc<AtomicU64>,
    done: Arc<WriterStats>,
    writes: AtomicU64,
    pub(crate) now: fn() -> Millis,
}

/// The activity of a store since it was opened, and its contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// The number of requested writes.
    pub writes: u64,
    /// The number of commits; one commit makes all waiting writes durable.
    pub commits: u64,
    /// The number of keys with a value, including expired values that are not removed yet.
    pub keys: u64,
    /// The total size of these values in bytes.
    pub bytes: u64,
    /// The number of keys that the other store may lack.
    pub noted: u64,
    /// Whether the other store may have keys that this store never received.
    pub is_filling: bool,
    /// The number of 4 KiB blocks that were found damaged and not overwritten since.
    pub damaged_blocks: u64,
}

/// One of several values that are written together.
#[derive(Debug, Clone)]
pub struct Put {
    /// The key.
    pub key: String,
    /// The value.
    pub value: Bytes,
    /// When the value expires.
    pub expiration: Option<Expiration>,
    /// The metadata of the value.
    pub metadata: Option<Metadata>,
    /// The version, if it was made elsewhere.
    pub version: Option<Version>,
}

impl RedbStore {
    /// Opens or creates a store. `now` returns the wall-clock time.
    ///
    /// # Errors
    /// When the file is in use, invalid, from a newer program, or cannot be read and written.
    pub fn open(config: &Config, now: fn() -> Millis) -> Result<Self, Error> {
        let opening = opening(&config.path);
        Self::open_by(&config.path, (opening, config.memory), (&config.name, config.company), now)
    }

    pub(crate) fn open_by(
        path: &Path,
        (opening, memory): (Opening, usize),
        (name, company): (&StoreName, Pairing),
        now: fn() -> Millis,
    ) -> Result<Self, Error> {
        let (file, said) = File::open(path, Setup { opening, memory, remedy: REMEDY }, |file, work| {
            prepare(file, work, name, company)
        })?;
        let file = Arc::new(file);
        let next_value = Arc::new(AtomicU64::new(said.next_value));
        let done = Arc::new(WriterStats {
            keys: said.held.0.into(),
            bytes: said.held.1.into(),
            noted: said.noted.into(),
            filling: u64::from(said.is_filling).into(),
            ..WriterStats::default()
        });
        let (orders, receiver) = mpsc::channel(QUEUE);
        let writer = Writer {
            file: Arc::clone(&file),
            clock: HybridClock::resume(said.name.clone(), said.clock),
            next_value: Arc::clone(&next_value),
            now,
            orders: receiver,
            done: Arc::clone(&done),
            company,
            reserve: Reserve::of(path),
        };
        let started = thread::Builder::new().name("store".into()).spawn(move || writer.work());
        started.map_err(|source| Error::Io {
            operation: "start a thread for",
            path: path.to_owned(),
            source,
        })?;
        Ok(Self { file, name: said.name, orders, next_value, done, writes: AtomicU64::new(0), now })
    }

    /// The store's name, which is part of its versions.
    pub fn name(&self) -> &StoreName {
        &self.name
    }

    /// The origin of the file.
    pub fn origin(&self) -> Origin {
        self.file.origin()
    }

    /// The record and the value of a key, if there is a record. Blocks while reading from disk.
    ///
    /// # Errors
    /// When the key cannot be read.
    pub fn look(&self, namespace: &str, key: &str) -> Result<Option<Found>, Error> {
        look(&self.file, &full_key(namespace, key))
    }

    /// A page of the keys with a value. Blocks while reading from disk.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn list(&self, namespace: &str, page: &Page) -> Result<Listed, Error> {
        list(&self.file, namespace, page, (self.now)())
    }

    /// Starts a value that is written in pieces.
    pub fn upload(&self) -> Upload<'_> {
        Upload::new(self, self.next_number())
    }

    /// Sets several keys durably and atomically.
    ///
    /// # Errors
    /// When the write cannot be stored, or a newer version is stored. Then no key is changed.
    pub async fn put(&self, namespace: &str, puts: Vec<Put>) -> Result<Vec<Version>, Error> {
        let change = |put: Put| {
            let Put { key, value, expiration, metadata, version } = put;
            let about = ValueMeta { bytes: value.len() as u64, expiration, metadata };
            let number = self.next_number();
            Mutation::Put { key: full_key(namespace, &key), value: number, rest: value, about, version }
        };
        self.versions(puts.into_iter().map(change).collect()).await
    }

    /// Deletes several keys durably and atomically; each with its version, if it was made
    /// elsewhere.
    ///
    /// # Errors
    /// When the write cannot be stored, or a newer version is stored. Then no key is changed.
    pub async fn delete(
        &self,
        namespace: &str,
        keys: &[(&str, Option<Version>)],
    ) -> Result<Vec<Version>, Error> {
        let change = |(key, version): &(&str, Option<Version>)| Mutation::Delete {
            key: full_key(namespace, key),
            version: version.clone(),
        };
        self.versions(keys.iter().map(change).collect()).await
    }

    /// Removes expired values and old tombstones; to be called periodically. Returns the namespaces
    /// and keys whose values expired, and whether more keys are due immediately.
    ///
    /// # Errors
    /// When the change cannot be stored.
    pub async fn sweep(&self) -> Result<(Vec<(String, String)>, bool), Error> {
        if !is_due(&self.file, (self.now)())? {
            return Ok((Vec::new(), false));
        }
        let (done, swept) = oneshot::channel();
        self.orders.send(WriteCommand::Sweep { done }).await.map_err(|_| Error::Released)?;
        let ExpiredBatch { ended, is_more } = swept.await.map_err(|_| Error::Released)??;
        let parts = |key: Vec<u8>| {
            let key = String::from_utf8(key).ok()?;
            key.split_once('\0').map(|(namespace, key)| (namespace.to_owned(), key.to_owned()))
        };
        Ok((ended.into_iter().filter_map(parts).collect(), is_more))
    }

    /// The activity and the contents of the store.
    pub fn usage(&self) -> Usage {
        Usage {
            writes: self.writes.load(Relaxed),
            commits: self.done.commits.load(Relaxed),
            keys: self.done.keys.load(Relaxed),
            bytes: self.done.bytes.load(Relaxed),
            noted: self.done.noted.load(Relaxed),
            is_filling: self.done.filling.load(Relaxed) > 0,
            damaged_blocks: self.file.damaged_blocks(),
        }
    }

    /// Commits waiting writes and releases the file. Later requests fail.
    pub fn close(&self) {
        let (done, closed) = oneshot::channel();
        if self.orders.blocking_send(WriteCommand::Close { done }).is_ok() {
            let _ = closed.blocking_recv();
        }
    }

    #[cfg(test)]
    pub(crate) fn view(&self) -> redb::ReadTransaction {
        self.file.begin_read().expect("it is open")
    }

    async fn versions(&self, changes: Vec<Mutation>) -> Result<Vec<Version>, Error> {
        let made = self.write(changes).await?.into_iter();
        let version = |made| match made {
            Applied::Version(version) => Some(version),
            Applied::Given(_) => None,
        };
        Ok(made.filter_map(version).collect())
    }

    pub(crate) fn next_number(&self) -> u64 {
        self.next_value.fetch_add(1, Relaxed)
    }

    pub(crate) async fn write(&self, changes: Vec<Mutation>) -> Result<Vec<Applied>, Error> {
        self.writes.fetch_add(1, Relaxed);
        let (done, written) = oneshot::channel();
        self.orders.send(WriteCommand::Write { changes, done }).await.map_err(|_| Error::Released)?;
        written.await.map_err(|_| Error::Released)?
    }

    /// Does not wait. If the queue is full, they are removed when the store is next opened.
    pub(crate) fn discard(&self, value: u64) {
        let (done, _) = oneshot::channel();
        let _ =
            self.orders.try_send(WriteCommand::Write { changes: vec![Mutation::Discard { value }], done });
    }
}

impl fmt::Debug for RedbStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Vault {}", self.name.as_str())
    }
}

fn is_due(file: &File, now: Millis) -> Result<bool, Error> {
    let failed = |error: redb::Error| file.failed("read", error);
    file.read(|view| {
        let due = view.open_table(DUE).map_err(|error| failed(error.into()))?;
        let first = due.first().map_err(|error| failed(error.into()))?;
        Ok(first.is_some_and(|(key, _)| key.value().0 <= now.seconds()))
    })
}

pub(crate) const REMEDY: &str =
    "`longhaul edge kv check` names what is lost, and `longhaul edge kv repair` keeps the rest";

/// The most writes that wait for the current commit.
const QUEUE: usize = 1024;
