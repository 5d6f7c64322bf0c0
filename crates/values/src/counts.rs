//! What is counted, and what the operator is told of a store.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A store at this moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    /// Keys that were read since the start, each of several that were read at once.
    pub reads: u64,
    /// Those of them that a copy in memory answered.
    pub hits: u64,
    /// Keys that were written or deleted.
    pub writes: u64,
    /// Pages that were listed.
    pub lists: u64,
    /// Requests that were refused or failed.
    pub refused: u64,
    /// Keys whose values were removed as they were over.
    pub expired: u64,
    /// Keys that have a value, in all namespaces.
    pub keys: u64,
    /// Bytes of those values.
    pub bytes: u64,
    /// Bytes of the store's file.
    pub file_bytes: u64,
    /// Bytes of copies in memory.
    pub memory_bytes: u64,
    /// Why it does not answer; absent while it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What is counted.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) reads: Count,
    pub(crate) hits: Count,
    pub(crate) writes: Count,
    pub(crate) lists: Count,
    pub(crate) refused: Count,
    pub(crate) expired: Count,
}

/// A number that only grows.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn add(&self, number: usize) {
        self.0.fetch_add(number as u64, Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}
