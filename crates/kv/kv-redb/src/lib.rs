//! The embedded store of the key-value store: keys, values and versions in one file that survives
//! crashes.
//!
//! | subject | module or item |
//! | --- | --- |
//! | reads and writes of keys | [`RedbStore`] |
//! | the tables of the file, and their checks when it is opened | `layout.rs`, `init.rs` |
//! | a file of tables: opening, closing, reopening after a failure; also for other contents | [`File`] |
//! | the writer thread, and group commit | `writer.rs` |
//! | the effects of a write on the tables | `mutation.rs` |
//! | a value that is written in pieces | [`Upload`] |
//! | a value that is read in pieces | [`Reading`] |
//! | pages of keys | `list.rs` |
//! | replication between two stores | `peer_state.rs` |
//!
//! The file is a redb database: B-trees with copy-on-write, so that a crash leaves the last
//! committed state. Versions, expiration and pages are defined by the engine, `kv`.

mod blocks;
mod create;
mod damage;
mod disk_reserve;
mod error;
mod file;
mod init;
mod inspect;
mod layout;
mod leaf;
mod list;
mod mutation;
mod overlay;
mod peer_state;
mod read;
mod repair;
mod scrub;
mod store;
mod streaming_put;
mod unrecovered;
mod writer;

pub use self::{
    blocks::Storage,
    error::Error,
    file::{File, Opening, Origin, Setup, opening},
    inspect::{Inspection, inspect},
    read::{Found, Reading},
    repair::{repair, salvage},
    scrub::{Scrub, Step},
    store::{Config, Put, RedbStore, Usage},
    streaming_put::Upload,
};

pub use kv::Pairing;

#[cfg(test)]
mod tests;
