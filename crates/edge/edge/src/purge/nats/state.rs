//! The state of the connection to the purge stream.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use ::tier_routing::LogId;
use kv_nats::Journal;
use tokio::{task::AbortHandle, time::Instant};

use crate::{admin::api::BusStatus, purge::log::PARTITION_TIMEOUT};

#[derive(Default)]
pub(crate) struct NatsState(Mutex<Option<RunningSession>>);

pub(super) struct RunningSession {
    pub(super) session: Arc<NatsSession>,
    pub(super) task: AbortHandle,
}

impl NatsState {
    pub(super) fn session(&self) -> Option<Arc<NatsSession>> {
        self.lock().as_ref().map(|running| Arc::clone(&running.session))
    }

    pub(super) fn set_session(&self, running: Option<RunningSession>) {
        *self.lock() = running;
    }

    fn lock(&self) -> MutexGuard<'_, Option<RunningSession>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RunningSession {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(crate) struct NatsSession {
    pub(super) journal: Journal,
    state: Mutex<State>,
    pub(super) published: AtomicU64,
    pub(super) received: AtomicU64,
    pub(super) resets: AtomicU64,
    unreadable: AtomicU64,
}

#[derive(Default)]
struct State {
    is_working: bool,
    /// `None` before the first attempt has ended.
    error: Option<String>,
    publish_error: Option<String>,
    duplicate: Option<DuplicateNode>,
}

#[derive(Debug, Clone, Copy)]
struct DuplicateNode {
    log: LogId,
    times: u64,
    last: Instant,
}

impl NatsSession {
    pub(super) fn new(journal: Journal) -> Self {
        Self {
            journal,
            state: Mutex::default(),
            published: AtomicU64::new(0),
            received: AtomicU64::new(0),
            resets: AtomicU64::new(0),
            unreadable: AtomicU64::new(0),
        }
    }

    pub(super) fn is_working(&self) -> bool {
        self.state().is_working
    }

    pub(super) fn report(&self, own: &str, waiting: u64) -> BusStatus {
        let state = self.state();
        let error = match &state.error {
            _ if state.is_working => state.publish_error.clone(),
            Some(why) => Some(why.clone()),
            None => Some(format!("NATS at {} is being connected to", self.journal.address())),
        };
        let is_there =
            |namesake: &DuplicateNode| namesake.times > 1 && namesake.last.elapsed() < PARTITION_TIMEOUT;
        BusStatus {
            stream: self.journal.address(),
            error,
            waiting,
            put: self.published.load(Relaxed),
            taken: self.received.load(Relaxed),
            resets: self.resets.load(Relaxed),
            unread: self.unreadable.load(Relaxed),
            namesake: state.duplicate.filter(is_there).map(|_| duplicate_message(own)),
        }
    }

    pub(super) fn mark_working(&self) {
        let mut state = self.state();
        if !std::mem::replace(&mut state.is_working, true) {
            tracing::info!(stream = self.journal.address(), "purges are replicated through the bus");
        }
        state.error = None;
    }

    pub(super) fn mark_failed(&self, why: String) {
        let mut state = self.state();
        if state.is_working || state.error.as_ref() != Some(&why) {
            tracing::warn!(error = why, "purges are not replicated through the bus, only over links");
        }
        (state.is_working, state.error) = (false, Some(why));
    }

    pub(super) fn set_publish_error(&self, why: Option<String>) {
        let mut state = self.state();
        if let Some(why) = why.as_ref().filter(|why| state.publish_error.as_ref() != Some(why)) {
            tracing::warn!(error = why, "a purge could not be published to the bus's stream yet");
        }
        state.publish_error = why;
    }

    pub(super) fn record_unreadable(&self, part: &str, bytes: usize) {
        if self.unreadable.fetch_add(1, Relaxed) == 0 {
            let (stream, part) = (self.journal.address(), part.get(..32).unwrap_or("?"));
            tracing::warn!(
                stream,
                part,
                bytes,
                "a message in the bus's stream contains no purges and is ignored, like all further ones: check what else publishes to it"
            );
        }
    }

    /// Only the second message of a process is reported: the first one may be from a process that
    /// has just ended.
    pub(super) fn record_duplicate(&self, own: &str, log: LogId) {
        let mut state = self.state();
        let previous =
            state.duplicate.filter(|previous| previous.log == log).map_or(0, |previous| previous.times);
        state.duplicate = Some(DuplicateNode { log, times: previous + 1, last: Instant::now() });
        if previous == 1 {
            tracing::error!("{}", duplicate_message(own));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn duplicate_message(own: &str) -> String {
    format!(
        "another process also runs as data centre \"{own}\": stop one of them, or give it another name in the network file and with --data-centre"
    )
}
