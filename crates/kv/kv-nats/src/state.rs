//! State shared by the bucket and its feed: the index, the clock, the connection, and the keys that
//! others wrote.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

use async_nats::{Client, jetstream::stream::Stream};
use kv::{HybridClock, StoreName, Version};
use tokio::sync::Notify;

use crate::{
    Error,
    acknowledged::Acknowledged,
    index::{Entry, Index},
    layout::{Mark, parts},
    loss::{Loss, StreamState, lacks},
    sole_writer::SequenceBuffer,
};

pub(crate) struct SharedState {
    pub(crate) name: StoreName,
    pub(crate) stream: String,
    pub(crate) acknowledged: Acknowledged,
    index: RwLock<Index>,
    /// The position up to which messages of keys were read in stream order.
    pub(crate) read_upto: AtomicU64,
    pub(crate) numbers: SequenceBuffer,
    /// `None` if there is no other store.
    pub(crate) mark_subject: Option<String>,
    pub(crate) marked: tokio::sync::Mutex<Mark>,
    pub(crate) is_filling: AtomicBool,
    /// The same, because the stream lacks acknowledged messages that the other store may have.
    pub(crate) is_short: AtomicBool,
    clock: Mutex<HybridClock>,
    state: RwLock<State>,
    under_way: Mutex<HashSet<Version>>,
    heard: Mutex<RemoteWrites>,
    is_heard: Notify,
    pub(crate) turn: Notify,
    is_closed: AtomicBool,
}

/// Keys that others wrote.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RemoteWrites {
    /// Namespaces, keys and, if known, versions.
    pub written: Vec<(String, String, Option<String>)>,
    /// Whether further keys were written that are not listed.
    pub is_more: bool,
}

enum State {
    Ready(Arc<Ready>),
    Trouble(String),
    Refused(Box<Loss>),
}

pub(crate) struct Ready {
    pub(crate) client: Client,
    pub(crate) stream: Stream<()>,
}

impl SharedState {
    pub(crate) fn new(
        name: StoreName,
        stream: &str,
        acknowledged: Acknowledged,
        mark_subject: Option<String>,
        trouble: String,
    ) -> Self {
        Self {
            name: name.clone(),
            stream: stream.to_owned(),
            acknowledged,
            index: RwLock::default(),
            read_upto: AtomicU64::new(0),
            numbers: SequenceBuffer::default(),
            mark_subject,
            marked: tokio::sync::Mutex::default(),
            is_filling: AtomicBool::new(false),
            is_short: AtomicBool::new(false),
            clock: Mutex::new(HybridClock::resume(name, 0)),
            state: RwLock::new(State::Trouble(trouble)),
            under_way: Mutex::default(),
            heard: Mutex::default(),
            is_heard: Notify::new(),
            turn: Notify::new(),
            is_closed: AtomicBool::new(false),
        }
    }

    pub(crate) fn ready(&self) -> Result<Arc<Ready>, Error> {
        match &*self.state.read().unwrap_or_else(PoisonError::into_inner) {
            State::Ready(ready) => Ok(Arc::clone(ready)),
            State::Trouble(why) => Err(Error::NotReady(why.clone())),
            State::Refused(loss) => Err(Error::Incomplete(loss.clone())),
        }
    }

    pub(crate) fn why_not(&self) -> Option<String> {
        match &*self.state.read().unwrap_or_else(PoisonError::into_inner) {
            State::Ready(_) => None,
            State::Trouble(why) => Some(why.clone()),
            State::Refused(loss) => Some(loss.to_string()),
        }
    }

    pub(crate) fn loss(&self) -> Option<Loss> {
        match &*self.state.read().unwrap_or_else(PoisonError::into_inner) {
            State::Refused(loss) => Some(Loss::clone(loss)),
            State::Ready(_) | State::Trouble(_) => None,
        }
    }

    /// The whole stream was read. It is used unless a response contradicted it meanwhile.
    pub(crate) fn is_ready(&self, ready: &Arc<Ready>) {
        self.acknowledged.was_read(self.index().held().0);
        if !self.acknowledged.is_doubted() {
            self.set(State::Ready(Arc::clone(ready)));
        }
    }

    /// A response contradicts the stream: requests fail until the feed has checked it.
    pub(crate) fn doubt(&self) {
        self.acknowledged.doubt();
        self.trouble(lacks(&self.stream));
        self.turn.notify_one();
    }

    /// At most once per `every`. Blocks.
    pub(crate) fn keep_record(&self, every: Duration) {
        self.acknowledged.keep(self.index().held().0, every);
    }

    pub(crate) fn has_given_all(&self) -> bool {
        self.mark_subject.is_some() && self.acknowledged.is_read() && self.index().noted() == 0
    }

    pub(crate) fn refuse(&self, loss: Loss) {
        if self.is_closed() {
            return;
        }
        if self.loss().as_ref() != Some(&loss) {
            tracing::error!("the store in NATS is refused: {loss}");
        }
        self.set(State::Refused(Box::new(loss)));
    }

    pub(crate) fn accept(&self, found: Option<StreamState>) -> Result<Loss, String> {
        let loss = self.loss().ok_or("no stream is refused")?;
        if !loss.is_of(found.as_ref()) {
            return Err(format!("the stream has changed meanwhile: {loss}"));
        }
        self.acknowledged.accept(found);
        self.turn.notify_one();
        Ok(loss)
    }

    pub(crate) fn trouble(&self, why: String) {
        if self.is_closed() {
            return;
        }
        if self.why_not().as_ref() != Some(&why) {
            tracing::warn!(error = %why, "the store in NATS cannot be used");
        }
        self.set(State::Trouble(why));
    }

    fn set(&self, state: State) {
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = state;
    }

    pub(crate) fn clock(&self) -> MutexGuard<'_, HybridClock> {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn index(&self) -> RwLockReadGuard<'_, Index> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn index_mut(&self) -> RwLockWriteGuard<'_, Index> {
        self.index.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn known(&self, key: &[u8]) -> Option<Entry> {
        self.index().get(key).cloned()
    }

    pub(crate) fn is_known(&self, key: &[u8], sequence: u64) -> bool {
        self.index().get(key).is_some_and(|known| known.sequence == sequence)
    }

    pub(crate) fn wrote(&self, key: &[u8], entry: Entry) {
        let sequence = entry.sequence;
        self.index_mut().apply(key, entry);
        self.numbers.add(sequence);
    }

    pub(crate) fn forget(&self, key: &[u8], sequence: u64) {
        self.index_mut().forget(key, sequence);
    }

    /// Reported to holders of copies if it is new and not a write in flight here.
    pub(crate) fn read(&self, key: &[u8], entry: Entry, is_first: bool) {
        let version = entry.version().cloned();
        if let Some(version) = &version {
            self.clock().hear(version);
        }
        if !self.index_mut().apply(key, entry) || is_first {
            return;
        }
        if version.as_ref().is_some_and(|version| self.under_way().contains(version)) {
            return;
        }
        self.note(key, version.as_ref());
    }

    pub(crate) fn note(&self, key: &[u8], version: Option<&Version>) {
        if let Some((namespace, key)) = parts(key) {
            let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
            if heard.written.len() < MOST_HEARD {
                let version = version.map(ToString::to_string);
                heard.written.push((namespace.to_owned(), key.to_owned(), version));
            } else {
                heard.is_more = true;
            }
            self.is_heard.notify_one();
        }
    }

    /// The other store, if there is one, has all messages up to `given`.
    pub(crate) fn start_anew(&self, given: Option<u64>) {
        *self.index_mut() = Index::of_pair(given);
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).is_more = true;
        self.is_heard.notify_one();
    }

    fn take_heard(&self) -> RemoteWrites {
        std::mem::take(&mut *self.heard.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Until the returned guard is dropped.
    pub(crate) fn writing(&self, version: Version) -> Writing<'_> {
        self.under_way().insert(version.clone());
        Writing { shared: self, version }
    }

    fn under_way(&self) -> MutexGuard<'_, HashSet<Version>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn close(&self) {
        self.is_closed.store(true, SeqCst);
        self.set(State::Trouble(CLOSED.to_owned()));
        self.turn.notify_one();
        self.is_heard.notify_one();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(SeqCst)
    }
}

/// Reports the keys that others write, independent of the store's requests.
pub struct RemoteWriteFeed(pub(crate) Arc<SharedState>);

impl RemoteWriteFeed {
    /// Waits until others have written keys and returns them; `None` when the store is closed.
    pub async fn heard(&self) -> Option<RemoteWrites> {
        self.0.is_heard.notified().await;
        (!self.0.is_closed()).then(|| self.0.take_heard())
    }
}

pub(crate) struct Writing<'s> {
    shared: &'s SharedState,
    version: Version,
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.shared.under_way().remove(&self.version);
    }
}

/// For holders of copies. A reader that is this far behind has few copies worth listing.
const MOST_HEARD: usize = 10_000;
pub(crate) const CLOSED: &str = "the store was closed: a new process has taken over";
