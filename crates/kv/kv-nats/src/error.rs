//! Errors of reads and writes.

use std::{io, path::PathBuf};

use kv::Version;

use crate::loss::Loss;

/// Why an operation failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The store cannot be used now; the text is the reason.
    #[error("{0}")]
    NotReady(String),
    /// The stream lacks acknowledged messages and is refused.
    #[error("{0}")]
    Incomplete(Box<Loss>),
    /// The server did not acknowledge a write.
    #[error("NATS has not confirmed a write ({0}): it may have been done")]
    NotConfirmed(String),
    /// The server did not respond to a request.
    #[error("NATS does not answer: {0}")]
    NotAnswered(String),
    /// The stream or the server has no space for the message.
    #[error("the stream of NATS is full ({0}): raise its max_bytes or the server's max_file_store")]
    Full(String),
    /// The value exceeds the maximum payload of the server.
    #[error(
        "Value length of {bytes} exceeds the limit of the store's NATS: its max_payload of {most} includes the value and its headers"
    )]
    TooLarge {
        /// The size of the value.
        bytes: u64,
        /// The maximum payload of the server.
        most: u64,
    },
    /// Some of several keys were not written.
    #[error("{written} of {of} keys were written, as one was not: {why}")]
    Partly {
        /// The number of keys that were written.
        written: usize,
        /// The number of keys in the request.
        of: usize,
        /// The first error.
        why: Box<Self>,
    },
    /// A write has an older version than the stored record of its key. Nothing was written.
    #[error("a newer version of the key is known: {known}")]
    Older {
        /// The newest stored version of the keys in the request.
        known: Version,
    },
    /// Other writers were faster in each attempt.
    #[error("other writers write the same key all the time: it was not written")]
    Busy,
    /// The server rejected a request.
    #[error("NATS refused: {0}")]
    Refused(String),
    /// A file in the address cannot be read.
    #[error("cannot read {}, which the address of NATS names: {why}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        why: String,
    },
    /// No thread could be started.
    #[error("cannot start a thread for the store: {0}")]
    Thread(io::ErrorKind),
}
