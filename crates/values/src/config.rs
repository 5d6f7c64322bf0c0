//! What a store is told when it is opened.

use std::path::PathBuf;

use jetstream::Address;
use kv::{MOST_VALUE_BYTES, StoreName};
use vault::Company;

/// Where a store is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In a file, made if it is not there.
    File(PathBuf),
    /// In a stream of NATS.
    Nats(Address),
}

/// What a store is told when it is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Where the store is; `None` where it is in another data centre.
    pub place: Option<Place>,
    /// The name that a new store gets; its versions end with it.
    pub name: StoreName,
    /// Bytes of memory: half of them for values that are asked for again and again, half for pages of the file. Without a file, all of them
    /// are for values.
    pub memory: u64,
    /// A directory for values of a store in another data centre.
    pub disk: Option<disk::Config>,
    /// A directory for the state of a NATS stream, so that a restart notices lost messages.
    pub streams: Option<PathBuf>,
    /// Whether another data centre has a second store of the same values.
    pub company: Company,
    /// Bytes that a value may have, at most [`Config::LARGEST`].
    pub largest: u64,
}

impl Config {
    /// What `memory` is where nobody says it: 64 MB.
    pub const MEMORY: u64 = 64_000_000;
    /// Bytes that no value is longer than.
    pub const LARGEST: u64 = MOST_VALUE_BYTES;
}
