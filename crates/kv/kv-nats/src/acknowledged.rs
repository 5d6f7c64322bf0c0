//! The minimum state of a stream (everything that was read or acknowledged), in memory and in a
//! file; and the operator's acceptance of a loss.

use std::{
    path::Path,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

use crate::{
    loss::StreamState,
    state_file::{Before, StateFile},
};

#[derive(Debug)]
pub(crate) struct Acknowledged {
    file: StateFile,
    seen: Mutex<Option<StreamState>>,
    highest: AtomicU64,
    is_read: AtomicBool,
    is_unknown: AtomicBool,
    is_doubted: AtomicBool,
    /// The inner `None` is a missing stream.
    accepted: Mutex<Option<Option<StreamState>>>,
}

impl Acknowledged {
    /// Blocks.
    pub(crate) fn open(directory: Option<&Path>, stream: &str) -> Self {
        let (file, before) = StateFile::open(directory, stream);
        let seen = match before {
            Before::Seen(state) => Some(state),
            Before::Unknown => None,
            Before::Damaged(why) => {
                tracing::error!(error = why, "the file is ignored: the stream is used without a comparison");
                None
            }
        };
        Self {
            file,
            highest: seen.as_ref().map_or(0, |state| state.last_sequence).into(),
            is_read: AtomicBool::new(false),
            is_unknown: AtomicBool::new(seen.is_none()),
            seen: Mutex::new(seen),
            is_doubted: AtomicBool::new(false),
            accepted: Mutex::default(),
        }
    }

    /// `None` if nothing is known. `keys` is the number of keys in the index.
    pub(crate) fn expected(&self, keys: u64) -> Option<StreamState> {
        let mut state = lock(&self.seen).clone()?;
        state.last_sequence = state.last_sequence.max(self.highest());
        if self.is_read() {
            state.keys = Some(keys);
        }
        Some(state)
    }

    pub(crate) fn follow(&self, mut state: StreamState) {
        self.reach(state.last_sequence);
        let mut seen = lock(&self.seen);
        state.keys = state.keys.or(seen.as_ref().and_then(|seen| seen.keys));
        *seen = Some(state);
    }

    pub(crate) fn begin_anew(&self, state: StreamState) {
        self.is_read.store(false, SeqCst);
        self.highest.store(state.last_sequence, SeqCst);
        *lock(&self.seen) = Some(state);
    }

    pub(crate) fn reach(&self, number: u64) {
        self.highest.fetch_max(number, SeqCst);
    }

    pub(crate) fn highest(&self) -> u64 {
        self.highest.load(SeqCst)
    }

    pub(crate) fn was_read(&self, keys: u64) {
        self.is_read.store(true, SeqCst);
        if self.is_unknown.swap(false, SeqCst) {
            let sequence = self.highest();
            if self.file.is_kept() {
                tracing::info!(keys, sequence, "this data centre uses the stream for the first time");
            } else {
                tracing::warn!(
                    keys,
                    sequence,
                    "the stream is used without a comparison: only a data centre with a `disk` remembers it over a restart"
                );
            }
        }
    }

    pub(crate) fn is_read(&self) -> bool {
        self.is_read.load(SeqCst)
    }

    pub(crate) fn doubt(&self) {
        self.is_doubted.store(true, SeqCst);
    }

    pub(crate) fn is_doubted(&self) -> bool {
        self.is_doubted.load(SeqCst)
    }

    pub(crate) fn take_doubt(&self) -> bool {
        self.is_doubted.swap(false, SeqCst)
    }

    pub(crate) fn accept(&self, found: Option<StreamState>) {
        *lock(&self.accepted) = Some(found);
    }

    pub(crate) fn take_accepted(&self, found: Option<&StreamState>) -> bool {
        match (lock(&self.accepted).take(), found) {
            (Some(Some(accepted)), Some(found)) => accepted.is(found),
            (Some(None), None) => true,
            _ => false,
        }
    }

    /// For the same stream at most once per `every`. Blocks.
    pub(crate) fn keep(&self, keys: u64, every: Duration) {
        let state = self.expected(keys).filter(|_| self.is_read());
        if let Some(state) = state
            && let Err(why) = self.file.write(&state, every)
        {
            tracing::warn!(error = %why, "the stream's state cannot be written to the data centre's disk");
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn state(created: &str, last_sequence: u64) -> StreamState {
        StreamState { created: created.to_owned(), last_sequence, keys: None }
    }

    #[test]
    fn the_acknowledged_state_is_expected_after_a_restart() {
        let folder = TempDir::new().unwrap();
        let open = || Acknowledged::open(Some(folder.path()), "S");
        let first = open();
        assert_eq!(first.expected(0), None);
        first.follow(state("a", 3));
        first.reach(9);
        first.reach(7);
        first.keep(5, Duration::ZERO);
        assert_eq!(open().expected(0), None, "the stream was not read completely");
        first.was_read(5);
        first.keep(5, Duration::ZERO);
        let second = open();
        let expected = Some(StreamState { keys: Some(5), ..state("a", 9) });
        assert_eq!((second.expected(0), second.highest()), (expected, 9));
        second.begin_anew(state("b", 1));
        assert_eq!(second.expected(0), Some(state("b", 1)));
        second.keep(0, Duration::ZERO);
        assert_eq!(open().expected(0).unwrap().created, "a", "the new stream was not read yet");
    }

    #[test]
    fn an_acceptance_counts_once_and_for_its_state() {
        let known = Acknowledged::open(None, "S");
        known.accept(Some(state("a", 3)));
        assert!(!known.take_accepted(Some(&state("a", 4))));
        assert!(!known.take_accepted(Some(&state("a", 3))));
        known.accept(Some(state("a", 3)));
        assert!(known.take_accepted(Some(&StreamState { keys: Some(1), ..state("a", 3) })));
        known.accept(None);
        assert!(known.take_accepted(None));
        assert!(!known.take_accepted(None));
    }
}
