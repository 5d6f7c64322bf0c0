//! What is asked of the store.

use std::{
    fmt,
    hash::{BuildHasher as _, RandomState},
    sync::{Arc, PoisonError},
    thread,
};

use async_nats::jetstream::{
    self,
    context::PublishErrorKind,
    stream::{DirectGetErrorKind, LastRawMessageErrorKind},
};
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use kv::{About, Content, Expiration, Listed, Metadata, Millis, Page, Record, StoreName, Sweep, Version};
use tokio::{runtime, sync::Mutex};

use crate::{
    Address, Error,
    connection::{Secrets, refused},
    feed,
    index::Entry,
    layout::{headers, joined, parts, record, subject},
    shared::{Ears, Ready, Shared},
};

/// A store in a stream. It is closed when it is dropped.
pub struct Bucket {
    shared: Arc<Shared>,
    address: Address,
    /// Writes of one key go one after the other: at the server all but one of them would be in vain.
    turns: Vec<Mutex<()>>,
    hasher: RandomState,
    now: fn() -> Millis,
}

/// What is known of a key, and its value if it has one.
#[derive(Debug)]
pub struct Found {
    /// Its version, and whether there is a value; whether that is over says the time.
    pub record: Record,
    /// The value; empty if there is none.
    pub value: Bytes,
}

/// A value that is written.
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
}

/// What a store holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Keys that have a value, those among them that are over and not removed yet.
    pub keys: u64,
    /// Bytes of those values.
    pub bytes: u64,
}

/// A namespace and a key.
pub type Named = (String, String);

/// What an attempt to write came to.
enum Attempt {
    Done(u64),
    /// Somebody else wrote the key before.
    Late,
}

impl Bucket {
    /// Begins to connect. No server need be there: until one is, what is asked fails with a sentence that says so. `now` is the time of day.
    ///
    /// # Errors
    /// When a file that the address names cannot be read, or there is no thread.
    pub fn open(address: Address, name: StoreName, now: fn() -> Millis) -> Result<Self, Error> {
        let shared = Arc::new(Shared::new(name, format!("NATS at {address} is being connected to")));
        let secrets = Secrets::read(&address)?;
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|why| Error::Thread(why.kind()))?;
        let feeding = feed::run(Arc::clone(&shared), address.clone(), secrets);
        let started = thread::Builder::new().name("store".into()).spawn(move || runtime.block_on(feeding));
        started.map_err(|why| Error::Thread(why.kind()))?;
        let turns = (0..TURNS).map(|_| Mutex::default()).collect();
        Ok(Self { shared, address, turns, hasher: RandomState::new(), now })
    }

    /// Why it cannot be used now; `None` if it can.
    pub fn trouble(&self) -> Option<String> {
        self.shared.ready().err().map(|why| why.to_string())
    }

    /// Bytes that a message may have, as the server says.
    pub fn most_bytes(&self) -> Option<u64> {
        let ready = self.shared.ready().ok()?;
        Some(ready.client.max_payload() as u64)
    }

    /// What is known of a key; `None` if nothing is. It is at least as new as all that was written here before.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn look(&self, namespace: &str, key: &str) -> Result<Option<Found>, Error> {
        let ready = self.shared.ready()?;
        let full = joined(namespace, key);
        let Some(known) = self.shared.known(&full) else { return Ok(None) };
        if let Some(record @ Record { content: Content::Deleted { .. }, .. }) = known.record {
            return Ok(Some(Found { record, value: Bytes::new() }));
        }
        // Any server of a cluster that has the stream answers, which may be behind the one that takes writes.
        let subject = subject(&self.address.stream, namespace, key);
        let message = match ready.stream.direct_get_last_for_subject(subject.as_str()).await {
            Ok(message) if message.sequence >= known.sequence => Some(message),
            Ok(_) => last(&ready, &subject).await?,
            Err(why) if why.kind() == DirectGetErrorKind::NotFound => last(&ready, &subject).await?,
            Err(why) => return Err(Error::NotAnswered(why.to_string())),
        };
        let Some(message) = message else {
            self.shared.forget(&full, known.sequence);
            return Ok(None);
        };
        let record = record(&message.headers, Some(message.payload.len() as u64)).ok();
        self.shared.read(&full, Entry { sequence: message.sequence, record: record.clone() }, false);
        // What another program wrote in its own way is no value.
        Ok(record.map(|record| Found { record, value: message.payload }))
    }

    /// A page of the keys that have a value.
    ///
    /// # Errors
    /// When the store cannot be used.
    pub fn list(&self, namespace: &str, page: &Page) -> Result<Listed, Error> {
        self.shared.ready()?;
        let index = self.shared.index.read().unwrap_or_else(PoisonError::into_inner);
        Ok(index.list(namespace, page, (self.now)()))
    }

    /// Sets keys, durably, one after the other: if one fails, others may be set.
    ///
    /// # Errors
    /// When that cannot be stored, or it is not known whether it was.
    pub async fn put(&self, namespace: &str, puts: Vec<Put>) -> Result<Vec<Version>, Error> {
        let all = puts.into_iter().map(|put| {
            let Put { key, value, expiration, metadata } = put;
            let about = About { bytes: value.len() as u64, expiration, metadata };
            (key, Content::Value(about), value)
        });
        self.write_all(namespace, all.collect()).await
    }

    /// Says that keys have no value any more, durably, as [`Self::put`].
    ///
    /// # Errors
    /// As [`Self::put`].
    pub async fn delete(&self, namespace: &str, keys: &[&str]) -> Result<Vec<Version>, Error> {
        let since = (self.now)().seconds();
        let all = keys.iter().map(|&key| (key.to_owned(), Content::Deleted { since }, Bytes::new()));
        self.write_all(namespace, all.collect()).await
    }

    /// Many are under way at the same time; two writes of one key stay in their order, as its turn is given in that in which it was asked for.
    async fn write_all(
        &self,
        namespace: &str,
        all: Vec<(String, Content, Bytes)>,
    ) -> Result<Vec<Version>, Error> {
        let (ready, of) = (self.shared.ready()?, all.len());
        let most = ready.client.max_payload() as u64;
        if let Some(bytes) = all.iter().map(|(_, _, value)| value.len() as u64).find(|&bytes| bytes > most) {
            return Err(Error::TooLarge { bytes, most });
        }
        let ready = &ready;
        let writes = all.into_iter().map(|(key, content, value)| async move {
            let written = self.write(ready, (namespace, &key), content, value).await;
            (joined(namespace, &key), written)
        });
        let done: Vec<_> = stream::iter(writes).buffered(AT_ONCE).collect().await;
        let written = done.iter().filter(|(_, result)| result.is_ok()).count();
        let Some(why) = done.iter().find_map(|(_, result)| result.as_ref().err().cloned()) else {
            return Ok(done.into_iter().filter_map(|(_, result)| result.ok()).collect());
        };
        // Who is told that it failed does not know what was done: copies of all of them are read again.
        for (full, result) in &done {
            self.shared.note(full, result.as_ref().ok());
        }
        Err(if of == 1 { why } else { Error::Partly { written, of, why: Box::new(why) } })
    }

    async fn write(
        &self,
        ready: &Ready,
        (namespace, key): (&str, &str),
        content: Content,
        value: Bytes,
    ) -> Result<Version, Error> {
        let full = &joined(namespace, key)[..];
        let _turn = self.turn(full).lock().await;
        let subject = subject(&self.address.stream, namespace, key);
        for _ in 0..MOST_TRIES {
            let known = self.shared.known(full);
            let version = {
                let mut clock = self.shared.clock();
                if let Some(version) = known.as_ref().and_then(Entry::version) {
                    clock.hear(version);
                }
                clock.next((self.now)())
            };
            let record = Record { version: version.clone(), content: content.clone() };
            let _writing = self.shared.writing(version.clone());
            let after = known.map_or(0, |known| known.sequence);
            match publish(ready, &subject, &record, after, value.clone()).await? {
                Attempt::Done(sequence) => {
                    self.shared.wrote(full, Entry { sequence, record: Some(record) });
                    return Ok(version);
                }
                Attempt::Late => self.catch_up(ready, full, &subject, after).await?,
            }
        }
        Err(Error::Busy)
    }

    /// Asks what a key's last message is, as another one than `known` was not expected.
    async fn catch_up(&self, ready: &Ready, full: &[u8], subject: &str, known: u64) -> Result<(), Error> {
        match last(ready, subject).await? {
            Some(message) => {
                let record = record(&message.headers, Some(message.payload.len() as u64)).ok();
                self.shared.read(full, Entry { sequence: message.sequence, record }, false);
            }
            None => self.shared.forget(full, known),
        }
        Ok(())
    }

    /// Removes values that are over, and forgets what need not be known any more; to be called now and then. Returns the keys whose values
    /// were over, and whether there is more to do at once.
    ///
    /// # Errors
    /// When that cannot be stored.
    pub async fn sweep(&self) -> Result<(Vec<Named>, bool), Error> {
        // There is nothing to be done while there is no server, and who asks for something is told.
        let Ok(ready) = self.shared.ready() else { return Ok((Vec::new(), false)) };
        let now = (self.now)();
        let due = self.shared.index.read().unwrap_or_else(PoisonError::into_inner).due(now, MOST_SWEPT);
        let is_more = due.len() == MOST_SWEPT;
        let mut ended = Vec::new();
        for (full, Entry { sequence, record }) in due {
            let (Some(record), Some((namespace, key))) = (record, parts(&full)) else { continue };
            let _turn = self.turn(&full).lock().await;
            match record.sweep(now) {
                Sweep::Keep => {}
                Sweep::Bury(record) => {
                    let subject = subject(&self.address.stream, namespace, key);
                    match publish(&ready, &subject, &record, sequence, Bytes::new()).await? {
                        Attempt::Done(sequence) => {
                            self.shared.wrote(&full, Entry { sequence, record: Some(record) });
                            ended.push((namespace.to_owned(), key.to_owned()));
                        }
                        Attempt::Late => self.catch_up(&ready, &full, &subject, sequence).await?,
                    }
                }
                Sweep::Forget => {
                    // By its number, so that it is nothing that was written meanwhile. Another process may have done it before.
                    if let Err(why) = ready.stream.delete_message(sequence).await {
                        tracing::debug!(error = %why, "a deletion's message is not removed");
                    }
                    self.shared.forget(&full, sequence);
                }
            }
        }
        Ok((ended, is_more))
    }

    /// What hears of keys that others write; one at a time.
    pub fn ears(&self) -> Ears {
        Ears(Arc::clone(&self.shared))
    }

    /// What it holds.
    pub fn usage(&self) -> Usage {
        let (keys, bytes) = self.shared.index.read().unwrap_or_else(PoisonError::into_inner).held();
        Usage { keys, bytes }
    }

    /// Ends the connection. What is asked for later fails.
    pub fn close(&self) {
        self.shared.close();
    }

    fn turn(&self, full: &[u8]) -> &Mutex<()> {
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

/// The last message of a subject, from the server that takes writes.
async fn last(ready: &Ready, subject: &str) -> Result<Option<jetstream::message::StreamMessage>, Error> {
    match ready.stream.get_last_raw_message_by_subject(subject).await {
        Ok(message) => Ok(Some(message)),
        Err(why) if matches!(why.kind(), LastRawMessageErrorKind::NoMessageFound) => Ok(None),
        Err(why) => Err(Error::NotAnswered(why.to_string())),
    }
}

/// Writes a message behind the one that is known, and waits until the server says that it is stored.
async fn publish(
    ready: &Ready,
    subject: &str,
    record: &Record,
    after: u64,
    value: Bytes,
) -> Result<Attempt, Error> {
    let (headers, length) = headers(record, after);
    let (bytes, most) = (value.len() as u64, ready.client.max_payload() as u64);
    if bytes + length > most {
        return Err(Error::TooLarge { bytes, most });
    }
    let sent = ready.context.publish_with_headers(subject.to_owned(), headers, value).await;
    let acknowledged = match sent {
        Ok(acknowledged) => acknowledged.await,
        Err(why) => Err(why),
    };
    match acknowledged {
        Ok(done) => Ok(Attempt::Done(done.sequence)),
        Err(why) if why.kind() == PublishErrorKind::WrongLastSequence => Ok(Attempt::Late),
        Err(why) => Err(refused(&why)),
    }
}

const TURNS: usize = 256;
/// Writes of one request under way.
const AT_ONCE: usize = 64;
/// Of a write that others are faster than.
const MOST_TRIES: usize = 32;
const MOST_SWEPT: usize = 1000;
