//! What is asked of the store.

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
use kv::{About, Clock, Company, Expiration, Listed, Metadata, Millis, Page, StoreName, Version};
use redb::ReadableTable as _;
use tokio::sync::{mpsc, oneshot};

use crate::{
    Error, Found, Upload,
    change::{Change, Made},
    file::{File, Opening, Origin, Setup, opening},
    layout::{DUE, full_key},
    listed::list,
    prepared::prepare,
    reading::look,
    reserve::Reserve,
    writer::{Done, Order, Swept, Writer},
};

/// Where a store is, and who it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The file; made if it is not there.
    pub path: PathBuf,
    /// The name that a new store gets. One that exists keeps its own.
    pub name: StoreName,
    /// Bytes of memory for what was read from the file.
    pub memory: usize,
    /// Whether there is another store of the same values.
    pub company: Company,
}

/// A store. It is closed when it is dropped.
pub struct Vault {
    pub(crate) file: Arc<File>,
    name: StoreName,
    orders: mpsc::Sender<Order>,
    next_value: Arc<AtomicU64>,
    done: Arc<Done>,
    writes: AtomicU64,
    pub(crate) now: fn() -> Millis,
}

/// What a store has done since it was opened, and what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Writes that were asked for.
    pub writes: u64,
    /// How often something was made durable: once for all that waited.
    pub commits: u64,
    /// Keys that have a value, those among them that are over and not removed yet.
    pub keys: u64,
    /// Bytes of those values.
    pub bytes: u64,
    /// Keys of which another store of the same values may know less.
    pub noted: u64,
    /// Whether that one may have keys that this one has never had.
    pub is_filling: bool,
    /// Blocks of 4 KiB that were found damaged, and not written since.
    pub damaged_blocks: u64,
}

/// One of several values that are written at once.
#[derive(Debug, Clone)]
pub struct Put {
    /// The key.
    pub key: String,
    /// Its value.
    pub value: Bytes,
    /// When it is over.
    pub expiration: Option<Expiration>,
    /// What is said of it.
    pub metadata: Option<Metadata>,
    /// Its version, if it was made elsewhere.
    pub version: Option<Version>,
}

impl Vault {
    /// Opens a store, or makes one. `now` is the time of day.
    ///
    /// # Errors
    /// When the file is locked, damaged, something else, from a newer program, or cannot be read and written.
    pub fn open(config: &Config, now: fn() -> Millis) -> Result<Self, Error> {
        let opening = opening(&config.path);
        Self::open_by(&config.path, (opening, config.memory), (&config.name, config.company), now)
    }

    pub(crate) fn open_by(
        path: &Path,
        (opening, memory): (Opening, usize),
        (name, company): (&StoreName, Company),
        now: fn() -> Millis,
    ) -> Result<Self, Error> {
        let (file, said) = File::open(path, Setup { opening, memory, remedy: REMEDY }, |file, work| {
            prepare(file, work, name, company)
        })?;
        let file = Arc::new(file);
        let next_value = Arc::new(AtomicU64::new(said.next_value));
        let done = Arc::new(Done {
            keys: said.held.0.into(),
            bytes: said.held.1.into(),
            noted: said.noted.into(),
            filling: u64::from(said.is_filling).into(),
            ..Done::default()
        });
        // As many wait as are made durable at once.
        let (orders, receiver) = mpsc::channel(QUEUE);
        let writer = Writer {
            file: Arc::clone(&file),
            clock: Clock::resume(said.name.clone(), said.clock),
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

    /// The store's name, which its versions have.
    pub fn name(&self) -> &StoreName {
        &self.name
    }

    /// Where its file comes from.
    pub fn origin(&self) -> Origin {
        self.file.origin()
    }

    /// What is known of a key; `None` if nothing is. Blocks while it is read from the disk.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn look(&self, namespace: &str, key: &str) -> Result<Option<Found>, Error> {
        look(&self.file, &full_key(namespace, key))
    }

    /// A page of the keys that have a value. Blocks while it is read from the disk.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn list(&self, namespace: &str, page: &Page) -> Result<Listed, Error> {
        list(&self.file, namespace, page, (self.now)())
    }

    /// Begins to take a value in pieces.
    pub fn upload(&self) -> Upload<'_> {
        Upload::new(self, self.next_number())
    }

    /// Sets several keys, all of them or none, durably.
    ///
    /// # Errors
    /// When that cannot be stored, or something newer is known; then all keys are as they were.
    pub async fn put(&self, namespace: &str, puts: Vec<Put>) -> Result<Vec<Version>, Error> {
        let change = |put: Put| {
            let Put { key, value, expiration, metadata, version } = put;
            let about = About { bytes: value.len() as u64, expiration, metadata };
            let number = self.next_number();
            Change::Put { key: full_key(namespace, &key), value: number, rest: value, about, version }
        };
        self.versions(puts.into_iter().map(change).collect()).await
    }

    /// Says that keys have no value any more, all of them or none, durably; each with its version, if it was made elsewhere.
    ///
    /// # Errors
    /// When that cannot be stored, or something newer is known; then all keys are as they were.
    pub async fn delete(
        &self,
        namespace: &str,
        keys: &[(&str, Option<Version>)],
    ) -> Result<Vec<Version>, Error> {
        let change = |(key, version): &(&str, Option<Version>)| Change::Delete {
            key: full_key(namespace, key),
            version: version.clone(),
        };
        self.versions(keys.iter().map(change).collect()).await
    }

    /// Removes values that are over, and forgets what need not be known any more; to be called now and then. Returns the keys, with their
    /// namespaces, whose values were over, and whether there is more to do at once.
    ///
    /// # Errors
    /// When that cannot be stored.
    pub async fn sweep(&self) -> Result<(Vec<(String, String)>, bool), Error> {
        if !is_due(&self.file, (self.now)())? {
            return Ok((Vec::new(), false));
        }
        let (done, swept) = oneshot::channel();
        self.orders.send(Order::Sweep { done }).await.map_err(|_| Error::Released)?;
        let Swept { ended, is_more } = swept.await.map_err(|_| Error::Released)??;
        let parts = |key: Vec<u8>| {
            let key = String::from_utf8(key).ok()?;
            key.split_once('\0').map(|(namespace, key)| (namespace.to_owned(), key.to_owned()))
        };
        Ok((ended.into_iter().filter_map(parts).collect(), is_more))
    }

    /// What it has done.
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

    /// Makes durable what waits, and leaves the file to whoever opens it next. What is asked for later fails. Blocks; not to be called in
    /// a runtime.
    pub fn close(&self) {
        let (done, closed) = oneshot::channel();
        if self.orders.blocking_send(Order::Close { done }).is_ok() {
            let _ = closed.blocking_recv();
        }
    }

    #[cfg(test)]
    pub(crate) fn view(&self) -> redb::ReadTransaction {
        self.file.begin_read().expect("it is open")
    }

    async fn versions(&self, changes: Vec<Change>) -> Result<Vec<Version>, Error> {
        let made = self.write(changes).await?.into_iter();
        let version = |made| match made {
            Made::Version(version) => Some(version),
            Made::Given(_) => None,
        };
        Ok(made.filter_map(version).collect())
    }

    /// The number of another value.
    pub(crate) fn next_number(&self) -> u64 {
        self.next_value.fetch_add(1, Relaxed)
    }

    pub(crate) async fn write(&self, changes: Vec<Change>) -> Result<Vec<Made>, Error> {
        self.writes.fetch_add(1, Relaxed);
        let (done, written) = oneshot::channel();
        self.orders.send(Order::Write { changes, done }).await.map_err(|_| Error::Released)?;
        written.await.map_err(|_| Error::Released)?
    }

    /// Removes a value that will not be whole, without waiting. If the queue is full, it is removed when the store is opened the next time.
    pub(crate) fn discard(&self, value: u64) {
        let (done, _) = oneshot::channel();
        let _ = self.orders.try_send(Order::Write { changes: vec![Change::Discard { value }], done });
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Vault {}", self.name.as_str())
    }
}

/// Whether time asks for anything.
fn is_due(file: &File, now: Millis) -> Result<bool, Error> {
    let failed = |error: redb::Error| file.failed("read", error);
    file.read(|view| {
        let due = view.open_table(DUE).map_err(|error| failed(error.into()))?;
        let first = due.first().map_err(|error| failed(error.into()))?;
        Ok(first.is_some_and(|(key, _)| key.value().0 <= now.seconds()))
    })
}

/// What the operator of a damaged store does.
pub(crate) const REMEDY: &str =
    "`longhaul edge kv check` names what is lost, and `longhaul edge kv repair` keeps the rest";

/// Writes that wait for the one before them to become durable.
const QUEUE: usize = 1024;
