//! Stores in streams of NATS JetStream: a bucket with keys, values and versions for the key-value
//! store, and a journal with many writers and readers for purges.
//!
//! | subject | module or item |
//! | --- | --- |
//! | reads and writes of keys | [`Bucket`] |
//! | the address of a stream, as configured | [`Address`] |
//! | connections, their errors, and positions in a stream | `connection.rs` |
//! | a stream that many data centres write and all of them read | [`Journal`] |
//! | subjects and headers of keys and values | `layout.rs` |
//! | the in-memory index of all keys | `index.rs` |
//! | one connection per runtime | `connections.rs` |
//! | conditional writes and reads of the last message | `publish.rs` |
//! | replication between two stores, durable across restarts | `paired.rs`, `index/paired.rs`, `replication_cursor.rs` |
//! | the bucket's stream, and the feed that keeps the index up to date | `stream.rs`, `consumer.rs` |
//! | detecting loss of acknowledged messages, across restarts | `guard.rs`, `confirm.rs`, `acknowledged.rs`, `state_file.rs`, `loss.rs` |
//! | following the stream without a consumer while there are no other writers | `sole_writer.rs` |
//! | state shared by the bucket and its feed | `state.rs` |
//!
//! A write states the sequence number of its key's last known message. If another writer was
//! faster, the server rejects the write; the writer then reads the newer message and makes a newer
//! version.

mod acknowledged;
mod address;
mod bucket;
mod confirm;
mod connection;
mod connections;
mod consumer;
mod error;
mod guard;
mod index;
mod journal;
mod layout;
mod loss;
mod paired;
mod publish;
mod replication_cursor;
mod sole_writer;
mod state;
mod state_file;
mod stream;

pub use bytes::Bytes;
pub use kv::Pairing;

pub use self::{
    address::{Address, AddressError, User},
    bucket::{Bucket, Found, Named, Put, Usage},
    connection::Place,
    error::Error,
    journal::{Came, Journal, LONGEST_MESSAGE, Reader, Writer},
    loss::{Loss, StreamState},
    paired::Noted,
    state::{RemoteWriteFeed, RemoteWrites},
};
