//! Why an edge could not be started.

use std::{io, net::SocketAddr, path::PathBuf};

/// What keeps an edge from running, or a command from reaching it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The network's file cannot be read.
    #[error("cannot read {path}")]
    Unreadable {
        /// As it was given.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The network's file is wrong.
    #[error("{0}")]
    Mistake(#[from] document::Mistake),
    /// A socket, a certificate or the trusted certificates.
    #[error(transparent)]
    Http(#[from] http::Error),
    /// Objects cannot be kept on disk.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// The key-value store.
    #[error(transparent)]
    Kv(#[from] values::Error),
    /// The network's bus.
    #[error("[network] bus: {0}")]
    Bus(#[from] jetstream::Error),
    /// No data centre answers there.
    #[error("no answer from {address}: {failure}")]
    Unreachable {
        /// The operator's address.
        address: SocketAddr,
        /// Why.
        failure: http::Failure,
    },
    /// The data centre does not do what it was asked to.
    #[error("{address}: {why}")]
    Refused {
        /// The operator's address.
        address: SocketAddr,
        /// What it said.
        why: String,
    },
    /// There can be no access log.
    #[error("the access log {path} cannot be written")]
    Log {
        /// Its file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file of the key-value store cannot be opened.
    #[error("cannot open the store {}", path.display())]
    Store {
        /// Its file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The place of another process cannot be taken, or this one's by another.
    #[error("hand-over at {path}")]
    Handover {
        /// The Unix socket.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A socket that listens already cannot be used.
    #[error("a socket that was handed to this process cannot be used")]
    Inherited(#[source] io::Error),
    /// A certificate cannot be signed, or an authority not be made.
    #[error("{path}: {why}")]
    Authority {
        /// The file, or the folder.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The network's file has this data centre no more since a hang-up.
    #[error("{0}; stop this data centre, or put it back into the file")]
    Removed(String),
    /// The network's file says since a hang-up that the store is elsewhere.
    #[error(
        "[kv] store has changed, which is read at the start alone: end the data centres, move the file, and start them again"
    )]
    StoreMoved,
    /// The runtime could not be started.
    #[error("cannot start a runtime")]
    Runtime(#[source] io::Error),
}

impl Error {
    /// What would help.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unreachable { .. } => {
                Some("is a data centre running that has this address as `admin` in its network's file? --admin names another".to_owned())
            }
            Self::Kv(error) => error.hint(),
            _ => None,
        }
    }
}
