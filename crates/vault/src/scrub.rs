//! A pass over all keys and values of a store in use, which finds damage before a client does.

use std::sync::Arc;

use crate::{Error, Vault, inspect::Survey};

/// One pass. It may miss keys that are written meanwhile.
pub struct Scrub {
    survey: Survey,
}

/// The result of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Bytes of the values that were read.
    pub bytes: u64,
    /// Keys, with their namespaces, that cannot be read.
    pub damaged: Vec<String>,
    /// Whether this was not the last step.
    pub is_more: bool,
}

impl Vault {
    /// Begins a pass.
    pub fn scrub(&self) -> Scrub {
        Scrub { survey: Survey::new(Arc::clone(&self.file)) }
    }
}

impl Scrub {
    /// Reads some keys with their values. Blocks.
    ///
    /// # Errors
    /// When the file is closed or cannot be read, but for damage.
    pub fn step(&mut self) -> Result<Step, Error> {
        let (before, named) = (self.survey.inspection.bytes, self.survey.inspection.damaged.len());
        // Between steps the pages that writes have replaced can be used again.
        let view = self.survey.view()?;
        let is_more = self.survey.step(&view, KEYS, &mut |_, _| Ok(()))?;
        let found = &self.survey.inspection;
        let damaged = found.damaged.get(named..).unwrap_or_default().to_vec();
        Ok(Step { bytes: found.bytes - before, damaged, is_more })
    }

    /// Keys that cannot be read, and gaps between keys in which there may be others.
    pub fn damaged(&self) -> (u64, u64) {
        let found = &self.survey.inspection;
        (found.damaged_keys, found.gaps.len() as u64)
    }
}

/// Keys of a step.
const KEYS: usize = 32;
