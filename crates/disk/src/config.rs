//! What a store may take, and where it is.

use std::{path::PathBuf, time::Duration};

/// How a store is set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Its own directory, made if it is not there.
    pub directory: PathBuf,
    /// Bytes that its segments may have together, at least [`Config::SMALLEST`].
    pub capacity: u64,
    /// For how long nothing is written after a failure; doubled for each further one, up to a minute.
    pub pause: Duration,
}

impl Config {
    /// The smallest capacity.
    pub const SMALLEST: u64 = 1 << 20;

    /// A store in this directory.
    pub fn new(directory: impl Into<PathBuf>, capacity: u64) -> Self {
        Self { directory: directory.into(), capacity, pause: Duration::from_secs(1) }
    }

    /// When a segment is full: a 32nd of the store, up to 64 MiB; in a store above 64 GiB a 1024th, so that there are about 1000
    /// open files at most, up to 1 GiB, since places in a segment have 32 bits.
    pub(crate) fn segment(&self) -> u64 {
        (self.capacity / 32).min(64 << 20).max(self.capacity / 1024).min(1 << 30)
    }

    /// The largest object: what is written of it must not push out its own beginning. Above 1 TiB its list of blocks is too long.
    pub(crate) fn largest(&self) -> u64 {
        (self.capacity / 2).min(1 << 40)
    }
}
