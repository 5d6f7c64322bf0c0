//! A persistent object store on disk, used as the lower store of an HTTP cache. It is independent of HTTP.
//!
//! An object has a key, a replaceable head, and a body of any length that is read in parts. All changes are
//! appended to a log. The log consists of segments, and a full store evicts the oldest segment.
//!
//! | topic | item |
//! | --- | --- |
//! | the interface for callers | [`Store`] |
//! | record format and checksums | [`mod@format`] |
//! | reading the contents of a segment at start | [`scan`] |
//! | the file of a segment | `segment` |
//! | positions of objects, in memory | `index` |
//! | appending to the log | `log` |
//! | eviction | `reclaim` |
//! | storing an object | [`Writer`] |
//! | positions of a body | [`Written`], [`Kept`] |
//! | reading an object | [`Found`], [`Body`] |
//! | repeated reads of a short body, and their validity | [`Short`], `changes` |
//! | durable notes, such as purges | `journal` |
//! | failures of the disk | [`State`] |
//! | ownership of the directory | `directory` |
//!
//! Several objects can be written concurrently. Each writer keeps one block in memory and appends it when it
//! is full, so blocks of a body may be apart. The last record, the object, contains the positions of the
//! blocks. An object does not exist before this record is written.
//!
//! All completed operations survive the end of the process. After a power failure, recent objects may be
//! missing, and recently removed objects may reappear. Notes are synced before [`Store::note`] returns, so a
//! caller that notes its purges first can repeat them. Checksums of all returned bytes are verified, except
//! for [`Short::place`], where that is the caller's responsibility.

mod clock;
mod config;
mod dir_lock;
mod error;
pub mod format;
mod generations;
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
mod single_block;
mod store;
mod stored_body;
mod writer;

pub use self::{
    config::Config,
    error::Error,
    format::Id,
    health::State,
    index::Usage,
    reader::{Body, Found, Piece},
    segment::Wait,
    single_block::BlockRef,
    store::{Opened, Store},
    stored_body::{Kept, StoredBody},
    writer::Writer,
};
