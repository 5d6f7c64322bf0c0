//! Objects on disk that survive restarts: the lower store of an HTTP cache, which knows nothing of HTTP.
//!
//! An object is a key, a head that can be replaced, and a body of any length that is read in parts. Everything that happens is
//! appended to a log; the log is cut into segments, and a full store gives up the oldest one.
//!
//! | to see | look into |
//! | --- | --- |
//! | what a caller can ask for | [`Store`] |
//! | how a record lies in a file, and what its checksums cover | [`mod@format`] |
//! | what a segment has in it, when a store is opened | [`scan`] |
//! | a segment's file | `segment` |
//! | where each object is, in memory | `index` |
//! | the end of the log, where all is appended | `log` |
//! | what a full store gives up, and what it carries over | `reclaim` |
//! | an object on its way in | [`Writer`] |
//! | where a body is, as far as it is written | [`Written`], [`Kept`] |
//! | an object that was found, and its body | [`Found`], [`Body`] |
//! | a short body that is read again and again, and whether it still stands | [`Short`], `changes` |
//! | notes that must not be lost, such as purges | `journal` |
//! | what happens when the disk fails | [`State`] |
//! | whose directory it is | `directory` |
//!
//! Several objects can be on their way in at once: each keeps one block of its body in memory, and appends it when it is full.
//! So the blocks of one body may lie apart, and its last record, the object, says where each of them is. Until that is written
//! there is no object.
//!
//! What was stored, replaced or removed survives the end of the process, however it ends. After a loss of power objects may be
//! missing, and one that was removed shortly before may be there again; notes are synced before [`Store::note`] returns, so that
//! a caller who notes its purges first knows them all. No byte is given out whose checksum was not compared, but by
//! [`Short::place`], whose caller sees to that.

mod changes;
mod clock;
mod config;
mod directory;
mod error;
pub mod format;
mod health;
mod index;
mod journal;
mod log;
mod reader;
mod reclaim;
mod record;
pub mod scan;
mod segment;
mod shared;
mod short;
mod store;
mod writer;
mod written;

pub use self::{
    config::Config,
    error::Error,
    format::Id,
    health::State,
    index::Usage,
    reader::{Body, Found, Piece},
    segment::Wait,
    short::Short,
    store::{Opened, Store},
    writer::Writer,
    written::{Kept, Written},
};
