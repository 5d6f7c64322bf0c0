//! The state of the connection to the purge stream.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use ::tiers::LogId;
use jetstream::Journal;
use tokio::{task::AbortHandle, time::Instant};

use crate::{bus::HEARD_WITHIN, operator::BusStatus};

#[derive(Default)]
pub(crate) struct OnBus(Mutex<Option<Underway>>);

/// A session with its task, which is aborted when this is dropped.
pub(super) struct Underway {
    pub(super) talk: Arc<Talk>,
    pub(super) task: AbortHandle,
}

impl OnBus {
    pub(super) fn talk(&self) -> Option<Arc<Talk>> {
        self.lock().as_ref().map(|underway| Arc::clone(&underway.talk))
    }

    pub(super) fn is_now(&self, underway: Option<Underway>) {
        *self.lock() = underway;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Underway>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(crate) struct Talk {
    pub(super) journal: Journal,
    state: Mutex<State>,
    pub(super) put: AtomicU64,
    /// The number of purges that were received first through the stream.
    pub(super) taken: AtomicU64,
    /// How often the stream was recreated or restored to an earlier state, so that everything became stale.
    pub(super) resets: AtomicU64,
    unread: AtomicU64,
}

#[derive(Default)]
struct State {
    /// Whether the stream was read to its end and is being followed.
    is_working: bool,
    /// Why the stream is unavailable; `None` before the first attempt has ended.
    trouble: Option<String>,
    /// Why publishing fails although the stream can be read.
    is_full: Option<String>,
    namesake: Option<Namesake>,
}

/// Another process that uses the name of this data centre.
#[derive(Debug, Clone, Copy)]
struct Namesake {
    log: LogId,
    times: u64,
    last: Instant,
}

impl Talk {
    pub(super) fn new(journal: Journal) -> Self {
        Self {
            journal,
            state: Mutex::default(),
            put: AtomicU64::new(0),
            taken: AtomicU64::new(0),
            resets: AtomicU64::new(0),
            unread: AtomicU64::new(0),
        }
    }

    pub(super) fn is_working(&self) -> bool {
        self.state().is_working
    }

    pub(super) fn report(&self, own: &str, waiting: u64) -> BusStatus {
        let state = self.state();
        let error = match &state.trouble {
            _ if state.is_working => state.is_full.clone(),
            Some(why) => Some(why.clone()),
            None => Some(format!("NATS at {} is being connected to", self.journal.address())),
        };
        let is_there = |namesake: &Namesake| namesake.times > 1 && namesake.last.elapsed() < HEARD_WITHIN;
        BusStatus {
            stream: self.journal.address(),
            error,
            waiting,
            put: self.put.load(Relaxed),
            taken: self.taken.load(Relaxed),
            resets: self.resets.load(Relaxed),
            unread: self.unread.load(Relaxed),
            namesake: state.namesake.filter(is_there).map(|_| namesake(own)),
        }
    }

    pub(super) fn works(&self) {
        let mut state = self.state();
        if !std::mem::replace(&mut state.is_working, true) {
            tracing::info!(stream = self.journal.address(), "purges are replicated through the bus");
        }
        state.trouble = None;
    }

    pub(super) fn fails(&self, why: String) {
        let mut state = self.state();
        if state.is_working || state.trouble.as_ref() != Some(&why) {
            tracing::warn!(error = why, "purges are not replicated through the bus, only over links");
        }
        (state.is_working, state.trouble) = (false, Some(why));
    }

    /// Records the result of publishing: the error, or `None`.
    pub(super) fn takes(&self, why: Option<String>) {
        let mut state = self.state();
        if let Some(why) = why.as_ref().filter(|why| state.is_full.as_ref() != Some(why)) {
            tracing::warn!(error = why, "a purge could not be published to the bus's stream yet");
        }
        state.is_full = why;
    }

    pub(super) fn not_read(&self, part: &str, bytes: usize) {
        if self.unread.fetch_add(1, Relaxed) == 0 {
            let (stream, part) = (self.journal.address(), part.get(..32).unwrap_or("?"));
            tracing::warn!(
                stream,
                part,
                bytes,
                "a message in the bus's stream contains no purges and is ignored, like all further ones: check what else publishes to it"
            );
        }
    }

    /// Records a message from another process with the same name. Only the second message of a process is
    /// reported: the first one may be from a process that has just ended.
    pub(super) fn meets(&self, own: &str, log: LogId) {
        let mut state = self.state();
        let before = state.namesake.filter(|before| before.log == log).map_or(0, |before| before.times);
        state.namesake = Some(Namesake { log, times: before + 1, last: Instant::now() });
        if before == 1 {
            tracing::error!("{}", namesake(own));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn namesake(own: &str) -> String {
    format!(
        "another process also runs as data centre \"{own}\": stop one of them, or give it another name in the network file and with --data-centre"
    )
}
