//! What lies in streams of NATS JetStream: keys with their values and versions, the store of the key-value store for several machines; and a
//! journal that many write and all of them read, for purges.
//!
//! | to see | look into |
//! | --- | --- |
//! | what is asked of it | [`Bucket`] |
//! | where the stream is, as a person writes it | [`Address`] |
//! | a connection, why it cannot be used, and a place in a stream | `connection.rs` |
//! | a stream that many write and all of them read | [`Journal`] |
//! | subjects and headers: how a key and its value lie in the stream | `layout.rs` |
//! | what is known of all keys without asking a server | `index.rs` |
//! | a connection for each runtime that asks | `lines.rs` |
//! | a message that is written behind the one that is known | `publish.rs` |
//! | what one of two stores keeps for the other, and how that outlives the process | `paired.rs`, `index/paired.rs`, `mark.rs` |
//! | the bucket's stream, and how the index is kept as new as it | `stream.rs`, `feed.rs` |
//! | whether it has what was acknowledged, and how that outlives the process | `guard.rs`, `confirm.rs`, `acknowledged.rs`, `state_file.rs`, `loss.rs` |
//! | how it is followed without a consumer while nobody else writes | `alone.rs` |
//! | what the bucket and its feed share | `shared.rs` |
//!
//! A write says behind which message of its key it wants to be, so that of two writers one is late, reads what the other wrote, and makes a
//! newer version. What a version is, when a value is over and what a page holds says the engine, `kv`.

mod acknowledged;
mod address;
mod alone;
mod bucket;
mod confirm;
mod connection;
mod error;
mod feed;
mod guard;
mod index;
mod journal;
mod layout;
mod lines;
mod loss;
mod mark;
mod paired;
mod publish;
mod shared;
mod state_file;
mod stream;

pub use bytes::Bytes;
pub use kv::Company;

pub use self::{
    address::{Address, NoAddress, User},
    bucket::{Bucket, Found, Named, Put, Usage},
    connection::Place,
    error::Error,
    journal::{Came, Journal, LONGEST_MESSAGE, Reader, Writer},
    loss::{Loss, StreamState},
    paired::Noted,
    shared::{Ears, Heard},
};
