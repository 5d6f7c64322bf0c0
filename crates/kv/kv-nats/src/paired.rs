//! Replication between two stores: which keys the other store may lack, and the versions of the
//! keys in a range.

use std::sync::{Arc, atomic::Ordering::SeqCst};

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use kv::{ApplyOutcome, KeyVersion, Record, Span, Version};

use crate::{
    Bucket, Error, Found,
    bucket::{AT_ONCE, MOST_TRIES},
    index::Entry,
    layout::{parts, subject},
    publish::{Attempt, publish},
    replication_cursor::CursorState,
    state::Ready,
};

/// A noted key, prefixed with its namespace.
#[derive(Debug)]
pub struct Noted {
    /// The key.
    pub key: String,
    /// Its position among the noted keys.
    pub at: u64,
    /// Its record and value; `None` if there is no record any longer.
    pub found: Option<Found>,
}

impl Bucket {
    /// Noted keys after this position: at most `most.0` keys with at most `most.1` bytes of values,
    /// but at least one key.
    ///
    /// # Errors
    /// When a key cannot be read.
    pub async fn notes(&self, after: u64, most: (usize, u64)) -> Result<Vec<Noted>, Error> {
        self.shared.ready()?;
        let notes = self.shared.index().notes(after, most);
        let read = notes.into_iter().map(|(at, key)| async move {
            let found = match parts(&key) {
                Some((namespace, key)) => self.look(namespace, key).await?,
                None => None,
            };
            Ok(Noted { key: String::from_utf8_lossy(&key).into_owned(), at, found })
        });
        stream::iter(read).buffered(AT_ONCE).collect::<Vec<_>>().await.into_iter().collect()
    }

    /// The versions of the compared records in a span, at most `most.0` keys with about `most.1`
    /// bytes of names; and where the span ends.
    ///
    /// # Errors
    /// When the store cannot be used.
    pub fn known(
        &self,
        span: &Span,
        most: (usize, usize),
    ) -> Result<(Vec<KeyVersion>, Option<String>), Error> {
        self.shared.ready()?;
        Ok(self.shared.index().known(span, most, (self.now)()))
    }

    /// Stores records of the other store durably and returns the result for each. `None` stands for
    /// a value that exceeds the maximum payload; it is skipped.
    ///
    /// # Errors
    /// When one of them cannot be stored; others may be.
    pub async fn take(&self, all: Vec<(String, Record, Bytes)>) -> Result<Vec<Option<ApplyOutcome>>, Error> {
        let ready = &self.lines.here(&self.shared.ready()?);
        let takes = all.into_iter().map(|(key, record, value)| async move {
            let version = record.version.clone();
            let taken = match self.take_one(ready, &key, record, value).await {
                Ok(given) => Ok(Some(given)),
                Err(why @ Error::TooLarge { .. }) => {
                    tracing::warn!(error = %why, "a value of the other store is too large for this store");
                    Ok(None)
                }
                Err(why) => Err(why),
            };
            (key, version, taken)
        });
        let done: Vec<_> = stream::iter(takes).buffered(AT_ONCE).collect().await;
        if let Some(why) = done.iter().find_map(|(_, _, taken)| taken.as_ref().err().cloned()) {
            // After an error, copies of all keys are reported as changed, because some records may
            // be stored.
            for (key, version, taken) in &done {
                self.shared.note(key.as_bytes(), taken.as_ref().ok().map(|_| version));
            }
            return Err(why);
        }
        if done.iter().any(|(_, _, taken)| matches!(taken, Ok(Some(ApplyOutcome::Older(_))))) {
            self.shared.keep_mark(ready, CursorState::Back).await?;
        }
        Ok(done.into_iter().filter_map(|(_, _, taken)| taken.ok()).collect())
    }

    async fn take_one(
        &self,
        ready: &Arc<Ready>,
        key: &str,
        record: Record,
        value: Bytes,
    ) -> Result<ApplyOutcome, Error> {
        let full = key.as_bytes();
        let Some((namespace, key)) = parts(full) else { return Err(Error::Refused("no key".to_owned())) };
        let _turn = self.turn(full).lock().await;
        let subject = subject(&self.address.stream, namespace, key);
        self.shared.clock().hear(&record.version);
        for _ in 0..MOST_TRIES {
            let known = self.shared.known(full);
            let given =
                Record::given(known.as_ref().and_then(|known| known.record.as_ref()), &record.version);
            match &given {
                ApplyOutcome::Older(_) => {
                    self.shared.index_mut().note(full);
                    return Ok(given);
                }
                ApplyOutcome::Same => {
                    self.shared.index_mut().unnote(full, &record.version);
                    return Ok(given);
                }
                ApplyOutcome::New => {}
            }
            let _writing = self.shared.writing(record.version.clone());
            let after = known.map_or(0, |known| known.sequence);
            let published = publish(&self.shared, ready, &subject, &record, after, value.clone()).await;
            match self.lines.told(ready, published)? {
                Attempt::Done(sequence) => {
                    let version = record.version.clone();
                    let mut index = self.shared.index_mut();
                    index.apply(full, Entry { sequence, record: Some(record) });
                    index.unnote(full, &version);
                    drop(index);
                    self.shared.numbers.add(sequence);
                    return Ok(given);
                }
                Attempt::Late => {
                    let caught_up = Box::pin(self.catch_up(ready, full, &subject, after)).await;
                    self.lines.told(ready, caught_up)?;
                }
            }
        }
        Err(Error::Busy)
    }

    /// Notes durably that the other store may lack these keys.
    ///
    /// # Errors
    /// When the stream cannot be used, or the notes cannot be stored.
    pub async fn note(&self, full_keys: &[String]) -> Result<(), Error> {
        let ready = self.shared.ready()?;
        {
            let mut index = self.shared.index_mut();
            for key in full_keys {
                index.note(key.as_bytes());
            }
        }
        self.shared.keep_mark(&ready, CursorState::Back).await
    }

    /// Notes that the other store has these versions. Newer records remain noted.
    pub fn unnote(&self, known: &[(String, Version)]) {
        let mut index = self.shared.index_mut();
        for (key, version) in known {
            index.unnote(key.as_bytes(), version);
        }
    }

    /// Notes durably that the other store has no keys that this store never received.
    ///
    /// # Errors
    /// When that cannot be stored.
    pub async fn filled(&self) -> Result<(), Error> {
        let ready = self.shared.ready()?;
        self.shared.is_filling.store(false, SeqCst);
        self.shared.is_short.store(false, SeqCst);
        self.shared.keep_mark(&ready, CursorState::Forward).await
    }

    /// Whether the stream lacks acknowledged messages that the other store may have.
    pub fn is_short(&self) -> bool {
        self.shared.is_short.load(SeqCst)
    }

    /// Whether the other store may have keys that this store never received.
    pub fn is_filling(&self) -> bool {
        self.shared.is_filling.load(SeqCst)
    }
}
