//! The state that a store shares with its writers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicU64};

use crate::{
    Config, Error,
    dir_lock::Directory,
    format::{LONGEST_HEAD, LONGEST_KEY},
    index::Index,
    journal::Journal,
    log::Log,
};

/// Lock order: the index may be locked while the log is locked, but not vice versa.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) index: Arc<Index>,
    pub(crate) log: Mutex<Log>,
    pub(crate) journal: Mutex<Journal>,
    pub(crate) numbers: Arc<AtomicU64>,
    pub(crate) directory: Directory,
}

impl Shared {
    pub(crate) fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn journal(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn check(&self, key: &[u8], head: &[u8]) -> Result<(), Error> {
        let both = key.len().saturating_add(head.len()) as u64;
        for (what, bytes, limit) in [
            ("a key", key.len() as u64, LONGEST_KEY as u64),
            ("a head", head.len() as u64, LONGEST_HEAD as u64),
            ("an object", both, self.config.largest()),
        ] {
            if bytes > limit {
                return Err(Error::TooLarge { what, bytes, limit });
            }
        }
        Ok(())
    }
}
