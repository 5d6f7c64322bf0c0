//! Why a store could not be opened, or did not do what it was asked to.

use std::{io, net::SocketAddr};

/// Why something failed, for whoever started it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store's file.
    #[error(transparent)]
    Store(#[from] vault::Error),
    /// Nobody answers there.
    #[error("no answer from {address}: {failure}")]
    Unreachable {
        /// Where the store is asked.
        address: SocketAddr,
        /// Why.
        failure: http::Failure,
    },
    /// The store does not do what it was asked to.
    #[error("{address}: {why}")]
    Refused {
        /// Where the store is asked.
        address: SocketAddr,
        /// What it said.
        why: String,
    },
    /// The answer cannot be written where it should go.
    #[error("the value cannot be written")]
    Output(#[source] io::Error),
    /// The runtime could not be started.
    #[error("cannot start a runtime")]
    Runtime(#[source] io::Error),
}

impl Error {
    /// What would help.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unreachable { .. } => Some(
                "is a data centre running whose network's file has this address as `listen` of [kv]? --at names another".to_owned(),
            ),
            _ => None,
        }
    }
}
