//! The configuration of a store.

use std::path::PathBuf;

use kv::{MOST_VALUE_BYTES, StoreName};
use kv_nats::Address;
use kv_redb::Pairing;

/// The location of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A file, which is created if it is missing.
    File(PathBuf),
    /// A stream of NATS.
    Nats(Address),
}

/// The configuration of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The location of the store; `None` if it is in another data centre.
    pub place: Option<Place>,
    /// The name of a new store, which is the suffix of its versions.
    pub name: StoreName,
    /// Bytes of memory: half for values, half for pages of the file if there is one.
    pub memory: u64,
    /// A directory for copies of values, if the store is in another data centre.
    pub disk: Option<segment_store::Config>,
    /// A directory for the state of a NATS stream, so that a restart notices lost messages.
    pub streams: Option<PathBuf>,
    /// Whether another data centre has a second store of the same values.
    pub company: Pairing,
    /// The largest allowed value in bytes, at most [`Config::LARGEST`].
    pub largest: u64,
}

impl Config {
    /// The default of `memory`: 64 MB.
    pub const MEMORY: u64 = 64_000_000;
    /// The upper limit of `largest`.
    pub const LARGEST: u64 = MOST_VALUE_BYTES;
}
