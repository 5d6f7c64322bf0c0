//! Why something could not be stored or read.

use std::{io, path::PathBuf};

use kv::Version;

use crate::loss::Loss;

/// Why an operation failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The store cannot be used now; the sentence says why.
    #[error("{0}")]
    NotReady(String),
    /// The stream lacks acknowledged messages and is refused.
    #[error("{0}")]
    Incomplete(Box<Loss>),
    /// The server was asked for a write and has not said that it has it.
    #[error("NATS has not confirmed a write ({0}): it may have been done")]
    NotConfirmed(String),
    /// The server was asked for something else and has not answered.
    #[error("NATS does not answer: {0}")]
    NotAnswered(String),
    /// There is no room for what was to be written.
    #[error("the stream of NATS is full ({0}): raise its max_bytes or the server's max_file_store")]
    Full(String),
    /// A message has no room for a value.
    #[error(
        "Value length of {bytes} exceeds what the store's NATS takes in one message: its max_payload of {most} is for the value and what is said of it"
    )]
    TooLarge {
        /// How many bytes the value has.
        bytes: u64,
        /// What the server says.
        most: u64,
    },
    /// Of several keys some were not written.
    #[error("{written} of {of} keys were written, as one was not: {why}")]
    Partly {
        /// Those that were.
        written: usize,
        /// All.
        of: usize,
        /// Why the first of the others was not.
        why: Box<Self>,
    },
    /// A write has an older version than what is known of its key. Nothing was written.
    #[error("a newer version of the key is known: {known}")]
    Older {
        /// The newest one that is known of the keys that were to be written.
        known: Version,
    },
    /// Others write the same key all the time.
    #[error("others write the same key all the time: it was not written")]
    Busy,
    /// The server refused.
    #[error("NATS refused: {0}")]
    Refused(String),
    /// A file that the address names cannot be read.
    #[error("cannot read {}, which the address of NATS names: {why}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The operating system gave no thread.
    #[error("cannot start a thread for the store: {0}")]
    Thread(io::ErrorKind),
}
