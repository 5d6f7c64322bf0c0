//! The configuration of a store.

use std::{path::PathBuf, time::Duration};

/// The configuration of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The store's directory, which is created if it is missing.
    pub directory: PathBuf,
    /// Limit for the total size of the segments in bytes, at least [`Config::SMALLEST`].
    pub capacity: u64,
    /// The pause after a failed write. It doubles for each further failure, up to a minute.
    pub pause: Duration,
}

impl Config {
    /// The smallest capacity.
    pub const SMALLEST: u64 = 1 << 20;

    /// A store in this directory.
    pub fn new(directory: impl Into<PathBuf>, capacity: u64) -> Self {
        Self { directory: directory.into(), capacity, pause: Duration::from_secs(1) }
    }

    /// 1/32 of the store, at most 64 MiB; above 64 GiB 1/1024, which limits the number of open
    /// files. At most 1 GiB, because offsets in a segment have 32 bits.
    pub(crate) fn segment(&self) -> u64 {
        (self.capacity / 32).min(64 << 20).max(self.capacity / 1024).min(1 << 30)
    }

    /// An object must not evict its own beginning while it is written. Above 1 TiB its list of
    /// blocks is too long.
    pub(crate) fn largest(&self) -> u64 {
        (self.capacity / 2).min(1 << 40)
    }
}
