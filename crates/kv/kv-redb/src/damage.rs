//! Damaged pages: reporting them to the reader, and counting them.

use std::{
    any::Any,
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

/// The payload of the unwinding read.
#[derive(Debug)]
pub(crate) struct DamagedPage {
    pub(crate) offset: u64,
    /// Empty if the page is beyond the end.
    pub(crate) bytes: Vec<u8>,
}

#[derive(Debug)]
pub(crate) enum Unwound {
    Page(DamagedPage),
    /// The database panicked because of inconsistent pages.
    Contradiction,
}

/// The database may panic if another program has modified the file.
pub(crate) fn catch<T>(read: impl FnOnce() -> T) -> Result<T, Unwound> {
    catch_unwind(AssertUnwindSafe(read)).map_err(|payload: Box<dyn Any + Send>| {
        match payload.downcast::<DamagedPage>() {
            Ok(page) => Unwound::Page(*page),
            Err(_) => Unwound::Contradiction,
        }
    })
}

/// And not overwritten since.
#[derive(Debug, Default)]
pub(crate) struct Damage {
    any: AtomicBool,
    blocks: Mutex<BTreeSet<u64>>,
}

impl Damage {
    pub(crate) fn found(&self, offset: u64) {
        let mut blocks = self.blocks();
        if blocks.len() < MOST {
            blocks.insert(offset);
        }
        self.any.store(true, Relaxed);
    }

    pub(crate) fn overwritten(&self, offset: u64) {
        if self.any.load(Relaxed) {
            self.blocks().remove(&offset);
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.blocks().len() as u64
    }

    fn blocks(&self) -> MutexGuard<'_, BTreeSet<u64>> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Further damaged blocks are not counted.
const MOST: usize = 100_000;
