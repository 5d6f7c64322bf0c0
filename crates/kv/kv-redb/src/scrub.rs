//! Reads all keys and values of a store in use, to find damage before a client does.

use std::sync::Arc;

use crate::{Error, RedbStore, inspect::Survey};

/// One pass. It may miss keys that are written during the pass.
pub struct Scrub {
    survey: Survey,
}

/// The result of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The size of the values that were read.
    pub bytes: u64,
    /// Unreadable keys, with their namespaces.
    pub damaged: Vec<String>,
    /// Whether there are further steps.
    pub is_more: bool,
}

impl RedbStore {
    /// Starts a pass.
    pub fn scrub(&self) -> Scrub {
        Scrub { survey: Survey::new(Arc::clone(&self.file)) }
    }
}

impl Scrub {
    /// Reads some keys with their values. Blocks.
    ///
    /// # Errors
    /// When the file is closed or cannot be read, except for damage.
    pub fn step(&mut self) -> Result<Step, Error> {
        let (before, named) = (self.survey.inspection.bytes, self.survey.inspection.damaged.len());
        // A new snapshot per step, so that pages that writes have replaced can be reused between
        // steps.
        let view = self.survey.view()?;
        let is_more = self.survey.step(&view, KEYS, &mut |_, _| Ok(()))?;
        let found = &self.survey.inspection;
        let damaged = found.damaged.get(named..).unwrap_or_default().to_vec();
        Ok(Step { bytes: found.bytes - before, damaged, is_more })
    }

    /// The number of unreadable keys, and of gaps between keys in which further keys may be lost.
    pub fn damaged(&self) -> (u64, u64) {
        let found = &self.survey.inspection;
        (found.damaged_keys, found.gaps.len() as u64)
    }
}

const KEYS: usize = 32;
