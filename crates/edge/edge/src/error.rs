//! Errors of an edge and of its commands.

use std::{io, net::SocketAddr, path::PathBuf};

/// Why an edge cannot run, or a command cannot reach it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The network file cannot be read.
    #[error("cannot read {path}")]
    Unreadable {
        /// The path as given.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// The network file is invalid.
    #[error("{0}")]
    Mistake(#[from] config_file::Diagnostic),
    /// A socket, a certificate or the trusted certificates cannot be used.
    #[error(transparent)]
    Http(#[from] http_stack::Error),
    /// The disk store cannot be opened.
    #[error(transparent)]
    Disk(#[from] segment_store::Error),
    /// The KV store cannot be used.
    #[error(transparent)]
    Kv(#[from] kv_server::Error),
    /// The purge stream cannot be used.
    #[error("[network] bus: {0}")]
    Bus(#[from] kv_nats::Error),
    /// No data centre responds at this address.
    #[error("no response from {address}: {failure}")]
    Unreachable {
        /// The operator's address.
        address: SocketAddr,
        /// The failure.
        failure: http_stack::Failure,
    },
    /// The data centre refuses a request.
    #[error("{address}: {why}")]
    Refused {
        /// The operator's address.
        address: SocketAddr,
        /// The reason.
        why: String,
    },
    /// The access log cannot be written.
    #[error("the access log {path} cannot be written")]
    Log {
        /// The path.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// The file of the KV store cannot be opened.
    #[error("cannot open the store {}", path.display())]
    Store {
        /// The path.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// A handover between processes failed.
    #[error("hand-over at {path}")]
    Handover {
        /// The Unix socket.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// An inherited socket cannot be used.
    #[error("an inherited socket cannot be used")]
    Inherited(#[source] io::Error),
    /// A certificate cannot be issued, or an authority cannot be created.
    #[error("{path}: {why}")]
    Authority {
        /// The file or directory.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// A data centre that runs without a network file was asked to reload it.
    #[error("this data centre runs without a network file; `longhaul edge init` writes one")]
    NoFile,
    /// A reloaded network file does not contain this data centre.
    #[error("{0}; stop this data centre, or add it to the file again")]
    Removed(String),
    /// A reloaded network file has another path for the KV store.
    #[error(
        "[kv] store has changed, which is read only at startup: stop the data centres, move the file, and start them again"
    )]
    StoreMoved,
    /// A secret of the network file cannot be read.
    #[error("{0}")]
    Secret(String),
    /// The runtime cannot be started.
    #[error("cannot start a runtime")]
    Runtime(#[source] io::Error),
}

impl Error {
    /// A suggestion for the user.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unreachable { .. } => {
                Some("check that a data centre runs with this address as `admin` in its network file; --admin selects another".to_owned())
            }
            Self::Kv(error) => error.hint(),
            _ => None,
        }
    }
}
