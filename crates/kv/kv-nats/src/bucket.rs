//! The key-value store in a stream: reads, writes, lists and expiration.

use std::{
    fmt,
    hash::{BuildHasher as _, RandomState},
    path::Path,
    sync::Arc,
    thread,
    time::Duration,
};

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use kv::{
    ApplyOutcome, Content, Expiration, Listed, Metadata, Millis, Page, Pairing, Record, StoreName, Sweep,
    ValueMeta, Version,
};
use tokio::{runtime, sync::Mutex, task::spawn_blocking};

use crate::{
    Address, Error,
    acknowledged::Acknowledged,
    connection::Credentials,
    connections::ConnectionPool,
    consumer,
    index::Entry,
    layout::{joined, mark_subject, parts, record, subject},
    loss::{Loss, StreamState, lacks},
    publish::{Attempt, last, publish, read},
    replication_cursor::CursorState,
    state::{Ready, RemoteWriteFeed, SharedState},
};

/// A store in a stream. It is closed when it is dropped.
pub struct Bucket {
    pub(crate) shared: Arc<SharedState>,
    pub(crate) address: Address,
    pub(crate) lines: Arc<ConnectionPool>,
    /// Concurrent writes of a key would be rejected by the server.
    turns: Vec<Mutex<()>>,
    hasher: RandomState,
    pub(crate) now: fn() -> Millis,
}

/// The record of a key, and its value if it has one.
#[derive(Debug)]
pub struct Found {
    /// The record. Its value may have expired.
    pub record: Record,
    /// The value; empty for a tombstone.
    pub value: Bytes,
}

/// A value to write.
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

/// The contents of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// The number of keys with a value, including expired values that are not removed yet.
    pub keys: u64,
    /// The total size of these values in bytes.
    pub bytes: u64,
    /// The number of keys that the other store may lack.
    pub noted: u64,
}

/// A namespace and a key.
pub type Named = (String, String);

struct Change {
    key: String,
    content: Content,
    value: Bytes,
    version: Option<Version>,
}

impl Bucket {
    /// Starts to connect. Until a server is reachable, requests fail with the reason.
    ///
    /// # Errors
    /// When a file that the address names cannot be read, or no thread can be started.
    pub fn open(
        address: Address,
        name: StoreName,
        company: Pairing,
        records: Option<&Path>,
        now: fn() -> Millis,
    ) -> Result<Self, Error> {
        let mark = (company == Pairing::Paired).then(|| mark_subject(&address.stream, name.as_str()));
        let trouble = format!("NATS at {address} is being connected to");
        let acknowledged = Acknowledged::open(records, &address.stream);
        let shared = Arc::new(SharedState::new(name, &address.stream, acknowledged, mark, trouble));
        let secrets = Credentials::read(&address)?;
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|why| Error::Thread(why.kind()))?;
        let lines = ConnectionPool::new(address.clone(), secrets.clone());
        let feeding = consumer::run(Arc::clone(&shared), address.clone(), secrets, now);
        let started = thread::Builder::new().name("store".into()).spawn(move || runtime.block_on(feeding));
        started.map_err(|why| Error::Thread(why.kind()))?;
        let turns = (0..TURNS).map(|_| Mutex::default()).collect();
        Ok(Self { shared, address, lines, turns, hasher: RandomState::new(), now })
    }

    /// Why the store cannot be used now; `None` if it can.
    pub fn trouble(&self) -> Option<String> {
        self.shared.why_not()
    }

    /// Whether the store can be used now.
    ///
    /// # Errors
    /// When it cannot.
    pub fn check(&self) -> Result<(), Error> {
        self.shared.ready().map(drop)
    }

    /// Why the stream is refused, if it lacks acknowledged messages.
    pub fn loss(&self) -> Option<Loss> {
        self.shared.loss()
    }

    /// Accepts the stream in this state. Missing messages are lost.
    ///
    /// # Errors
    /// When no stream is refused, or it has changed since. The text is the reason.
    pub fn accept(&self, found: Option<StreamState>) -> Result<Loss, String> {
        self.shared.accept(found)
    }

    /// The maximum payload of a message in bytes, as reported by the server.
    pub fn most_bytes(&self) -> Option<u64> {
        let ready = self.shared.ready().ok()?;
        Some(ready.client.max_payload() as u64)
    }

    /// The record and the value of a key, if there is a record. It is at least as new as all
    /// previous writes of this process.
    ///
    /// # Errors
    /// When the key cannot be read.
    pub async fn look(&self, namespace: &str, key: &str) -> Result<Option<Found>, Error> {
        let ready = self.shared.ready()?;
        let full = joined(namespace, key);
        let Some(known) = self.shared.known(&full) else { return Ok(None) };
        if let Some(record @ Record { content: Content::Deleted { .. }, .. }) = known.record {
            return Ok(Some(Found { record, value: Bytes::new() }));
        }
        let subject = subject(&self.address.stream, namespace, key);
        let line = self.lines.here(&ready);
        let message =
            self.lines.told(&line, read(&line, (&self.address.stream, &subject), known.sequence).await)?;
        let Some(message) = message else {
            // Rare, so boxed to keep this future small.
            let confirmed = Box::pin(self.shared.confirm(&line, &full, (self.now)())).await;
            self.lines.told(&line, confirmed)?;
            self.shared.forget(&full, known.sequence);
            return Ok(None);
        };
        if message.sequence < known.sequence {
            self.shared.doubt();
            return Err(Error::NotReady(lacks(&self.address.stream)));
        }
        let record = record(&message.headers, Some(message.payload.len() as u64)).ok();
        if message.sequence != known.sequence {
            self.shared.read(&full, Entry { sequence: message.sequence, record: record.clone() }, false);
        }
        // Another program may write messages in another format.
        Ok(record.map(|record| Found { record, value: message.payload }))
    }

    /// A page of the keys with a value.
    ///
    /// # Errors
    /// When the store cannot be used.
    pub fn list(&self, namespace: &str, page: &Page) -> Result<Listed, Error> {
        self.shared.ready()?;
        Ok(self.shared.index().list(namespace, page, (self.now)()))
    }

    /// Sets keys durably. If one write fails, others may have been applied.
    ///
    /// # Errors
    /// When a write is not stored or not acknowledged, or a newer version is stored.
    pub async fn put(&self, namespace: &str, puts: Vec<Put>) -> Result<Vec<Version>, Error> {
        let all = puts.into_iter().map(|put| {
            let Put { key, value, expiration, metadata, version } = put;
            let about = ValueMeta { bytes: value.len() as u64, expiration, metadata };
            Change { key, content: Content::Value(about), value, version }
        });
        self.write_all(namespace, all.collect()).await
    }

    /// Deletes keys durably, as [`Self::put`].
    ///
    /// # Errors
    /// As [`Self::put`].
    pub async fn delete(
        &self,
        namespace: &str,
        keys: &[(&str, Option<Version>)],
    ) -> Result<Vec<Version>, Error> {
        let content = Content::Deleted { since: (self.now)().seconds() };
        let all = keys.iter().map(|(key, version)| Change {
            key: (*key).to_owned(),
            content: content.clone(),
            value: Bytes::new(),
            version: version.clone(),
        });
        self.write_all(namespace, all.collect()).await
    }

    /// After an error, copies of all keys are reported as changed, because some writes may be
    /// applied.
    async fn write_all(&self, namespace: &str, mut all: Vec<Change>) -> Result<Vec<Version>, Error> {
        let ready = self.shared.ready()?;
        let most = ready.client.max_payload() as u64;
        if let Some(bytes) = all.iter().map(|change| change.value.len() as u64).find(|&bytes| bytes > most) {
            return Err(Error::TooLarge { bytes, most });
        }
        if let Some(known) = all.iter().filter_map(|change| self.newer(namespace, change)).max() {
            return Err(Error::Older { known });
        }
        let line = self.lines.here(&ready);
        if all.len() > 1 {
            // Boxed to keep the future of a single write small.
            return Box::pin(self.write_many(&line, namespace, all)).await;
        }
        let Some(change) = all.pop() else { return Ok(Vec::new()) };
        let full = joined(namespace, &change.key);
        match self.write(&line, namespace, change).await {
            Ok(version) => Ok(vec![version]),
            Err(why) => {
                self.shared.note(&full, None);
                Err(why)
            }
        }
    }

    /// Two writes of one key keep their order, because its lock is fair.
    async fn write_many(
        &self,
        line: &Arc<Ready>,
        namespace: &str,
        all: Vec<Change>,
    ) -> Result<Vec<Version>, Error> {
        let of = all.len();
        let writes = all.into_iter().map(|change| async move {
            let full = joined(namespace, &change.key);
            (full, self.write(line, namespace, change).await)
        });
        let done: Vec<_> = stream::iter(writes).buffered(AT_ONCE).collect().await;
        let written = done.iter().filter(|(_, result)| result.is_ok()).count();
        let Some(why) = done.iter().find_map(|(_, result)| result.as_ref().err().cloned()) else {
            return Ok(done.into_iter().filter_map(|(_, result)| result.ok()).collect());
        };
        for (full, result) in &done {
            self.shared.note(full, result.as_ref().ok());
        }
        Err(Error::Partly { written, of, why: Box::new(why) })
    }

    fn newer(&self, namespace: &str, change: &Change) -> Option<Version> {
        let version = change.version.as_ref()?;
        let known = self.shared.known(&joined(namespace, &change.key))?;
        match Record::given(known.record.as_ref(), version) {
            ApplyOutcome::Older(known) => Some(known),
            ApplyOutcome::New | ApplyOutcome::Same => None,
        }
    }

    async fn write(&self, ready: &Arc<Ready>, namespace: &str, change: Change) -> Result<Version, Error> {
        let Change { key, content, value, version: made } = change;
        let full = &joined(namespace, &key)[..];
        let _turn = self.turn(full).lock().await;
        let subject = subject(&self.address.stream, namespace, &key);
        for _ in 0..MOST_TRIES {
            let known = self.shared.known(full);
            let version = match &made {
                None => self.next_version(known.as_ref()),
                Some(version) => {
                    self.shared.clock().hear(version);
                    match Record::given(known.as_ref().and_then(|known| known.record.as_ref()), version) {
                        ApplyOutcome::New => version.clone(),
                        // The same write arrived over another path.
                        ApplyOutcome::Same => return Ok(version.clone()),
                        ApplyOutcome::Older(known) => return Err(Error::Older { known }),
                    }
                }
            };
            let record = Record { version: version.clone(), content: content.clone() };
            let _writing = self.shared.writing(version.clone());
            let after = known.map_or(0, |known| known.sequence);
            let published = publish(&self.shared, ready, &subject, &record, after, value.clone()).await;
            match self.lines.told(ready, published)? {
                Attempt::Done(sequence) => {
                    self.shared.wrote(full, Entry { sequence, record: Some(record) });
                    return Ok(version);
                }
                Attempt::Late => {
                    let caught_up = Box::pin(self.catch_up(ready, full, &subject, after)).await;
                    self.lines.told(ready, caught_up)?;
                }
            }
        }
        Err(Error::Busy)
    }

    fn next_version(&self, known: Option<&Entry>) -> Version {
        let mut clock = self.shared.clock();
        if let Some(version) = known.and_then(Entry::version) {
            clock.hear(version);
        }
        clock.next((self.now)())
    }

    /// After the server rejected `known` as the last message.
    pub(crate) async fn catch_up(
        &self,
        ready: &Ready,
        full: &[u8],
        subject: &str,
        known: u64,
    ) -> Result<(), Error> {
        match last(ready, subject).await? {
            Some(message) if message.sequence < known => {
                self.shared.doubt();
                return Err(Error::NotReady(lacks(&self.address.stream)));
            }
            Some(message) => {
                let record = record(&message.headers, Some(message.payload.len() as u64)).ok();
                self.shared.read(full, Entry { sequence: message.sequence, record }, false);
            }
            None => {
                self.shared.confirm(ready, full, (self.now)()).await?;
                self.shared.forget(full, known);
            }
        }
        Ok(())
    }

    /// Removes expired values and old tombstones; to be called periodically. Returns the keys whose
    /// values expired, and whether more keys are due immediately.
    ///
    /// # Errors
    /// When a change cannot be stored.
    pub async fn sweep(&self) -> Result<(Vec<Named>, bool), Error> {
        let shared = Arc::clone(&self.shared);
        if let Err(why) = spawn_blocking(move || shared.keep_record(BETWEEN_RECORDS)).await {
            tracing::debug!(error = %why, "the stream's state was not written");
        }
        let Ok(ready) = self.shared.ready() else { return Ok((Vec::new(), false)) };
        let now = (self.now)();
        if let Err(why) = self.shared.keep_mark(&ready, CursorState::Forward).await {
            tracing::debug!(error = %why, "the replication mark is not written");
        }
        let due = self.shared.index().due(now, MOST_SWEPT);
        let is_more = due.len() == MOST_SWEPT;
        let mut ended = Vec::new();
        for (full, Entry { sequence, record }) in due {
            let (Some(record), Some((namespace, key))) = (record, parts(&full)) else { continue };
            let _turn = self.turn(&full).lock().await;
            match record.sweep(now) {
                Sweep::Keep => {}
                Sweep::Bury(record) => {
                    let subject = subject(&self.address.stream, namespace, key);
                    let is_noted = self.shared.index().is_noted(&full);
                    match publish(&self.shared, &ready, &subject, &record, sequence, Bytes::new()).await? {
                        Attempt::Done(sequence) => {
                            let version = record.version.clone();
                            self.shared.wrote(&full, Entry { sequence, record: Some(record) });
                            if !is_noted {
                                self.shared.index_mut().unnote(&full, &version);
                            }
                            ended.push((namespace.to_owned(), key.to_owned()));
                        }
                        Attempt::Late => self.catch_up(&ready, &full, &subject, sequence).await?,
                    }
                }
                Sweep::Forget => {
                    // Deleted by sequence number, so that a newer message is kept.
                    if let Err(why) = ready.stream.delete_message(sequence).await {
                        tracing::debug!(error = %why, "a deletion's message is not removed");
                    }
                    self.shared.forget(&full, sequence);
                }
            }
        }
        Ok((ended, is_more))
    }

    /// Reports keys that others write; there is one reader.
    pub fn ears(&self) -> RemoteWriteFeed {
        RemoteWriteFeed(Arc::clone(&self.shared))
    }

    /// The contents of the store.
    pub fn usage(&self) -> Usage {
        let index = self.shared.index();
        let (keys, bytes) = index.held();
        Usage { keys, bytes, noted: index.noted() }
    }

    /// Ends the connection. Later requests fail.
    pub fn close(&self) {
        if !self.shared.is_closed() {
            self.shared.keep_record(Duration::ZERO);
        }
        self.shared.close();
        self.lines.close();
    }

    pub(crate) fn turn(&self, full: &[u8]) -> &Mutex<()> {
        #[expect(clippy::cast_possible_truncation, reason = "any bits of a hash do")]
        let number = self.hasher.hash_one(full) as usize % TURNS;
        &self.turns[number]
    }
}

impl Drop for Bucket {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bucket {}", self.address)
    }
}

const TURNS: usize = 256;
pub(crate) const AT_ONCE: usize = 64;
/// Attempts of a write while other writers are faster.
pub(crate) const MOST_TRIES: usize = 32;
const MOST_SWEPT: usize = 1000;
/// After a kill, a loss of the messages of the last second may remain undetected.
const BETWEEN_RECORDS: Duration = Duration::from_secs(1);
