//! A persistent object store on disk, used as the lower store of an HTTP cache. It is independent
//! of HTTP.
//!
//! An object has a key, a replaceable head, and a body of any length that is read in parts. All
//! changes are appended to a log. The log consists of segments, and a full store evicts the oldest
//! segment. An object exists when its last record is written, which contains the positions of its
//! blocks; several objects can be written concurrently.
//!
//! All completed operations survive the end of the process. After a power failure, recent objects
//! may be missing, and recently removed objects may reappear. Notes are synced before
//! [`Store::note`] returns, so a caller that notes its purges first can repeat them. Checksums of
//! all returned bytes are verified, except for [`Short::place`].

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
