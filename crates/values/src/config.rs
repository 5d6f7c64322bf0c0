//! What a store is told when it is opened.

use std::path::PathBuf;

use kv::{MOST_VALUE_BYTES, StoreName};

/// What a store is told when it is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The store's file, made if it is not there; `None` where the store is in another data centre.
    pub path: Option<PathBuf>,
    /// The name that a new store gets; its versions end with it.
    pub name: StoreName,
    /// Bytes of memory: half of them for values that are asked for again and again, half for pages of the file. Without a file, all of them
    /// are for values.
    pub memory: u64,
    /// Bytes that a value may have, at most [`Config::LARGEST`].
    pub largest: u64,
}

impl Config {
    /// What `memory` is where nobody says it: 64 MB.
    pub const MEMORY: u64 = 64_000_000;
    /// Bytes that no value is longer than.
    pub const LARGEST: u64 = MOST_VALUE_BYTES;
}
