//! Why an edge could not be started.

use std::{io, path::PathBuf};

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
    /// The runtime could not be started.
    #[error("cannot start a runtime")]
    Runtime(#[source] io::Error),
}
