//! Keys with their values and versions in one file, which survives whatever ends the process: the embedded store of the key-value store.
//!
//! | to see | look into |
//! | --- | --- |
//! | what is asked of it | [`Vault`] |
//! | how it lies in the file, and which file is not one | `layout.rs`, `prepared.rs` |
//! | a file of tables, opened, closed, and opened again after a failure; also for those who keep something else | [`File`] |
//! | one thread that writes, and many writes that become durable at once | `writer.rs` |
//! | what a write does to the tables | `change.rs` |
//! | a value that comes in pieces | [`Upload`] |
//! | a value that is read in pieces | [`Reading`] |
//! | pages of keys | `listed.rs` |
//! | what one of two stores keeps for the other | `paired.rs` |
//!
//! The file is redb's: B-trees that are never written over, so that a crash leaves the last state that was made durable. What a
//! version is, when a value is over and what a page holds says the engine, `kv`.

mod blocks;
mod change;
mod damage;
mod error;
mod file;
mod inspect;
mod layout;
mod leaf;
mod listed;
mod made;
mod overlay;
mod paired;
mod prepared;
mod reading;
mod repair;
mod reserve;
mod scrub;
mod unrecovered;
mod upload;
mod vault;
mod writer;

pub use self::{
    blocks::Storage,
    error::Error,
    file::{File, Opening, Origin, Setup, opening},
    inspect::{Inspection, inspect},
    reading::{Found, Reading},
    repair::{repair, salvage},
    scrub::{Scrub, Step},
    upload::Upload,
    vault::{Config, Put, Usage, Vault},
};

pub use kv::Company;

#[cfg(test)]
mod tests;
