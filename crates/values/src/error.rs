//! Why a store could not be opened, or did not do what it was asked to.

use std::io;

/// Why something failed, for whoever started it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store's file.
    #[error(transparent)]
    Store(#[from] vault::Error),
    /// The store in NATS.
    #[error(transparent)]
    Nats(#[from] jetstream::Error),
    /// Nobody answers there.
    #[error("no answer from {address}: {failure}")]
    Unreachable {
        /// Where the store is asked.
        address: String,
        /// Why.
        failure: http::Failure,
    },
    /// The store does not do what it was asked to.
    #[error("{address}: {why}")]
    Refused {
        /// Where the store is asked.
        address: String,
        /// What it said.
        why: String,
    },
    /// A key cannot be one.
    #[error("the key cannot be used: {0}")]
    Key(#[from] kv::KeyError),
    /// Metadata cannot be some.
    #[error("the metadata cannot be used: {0}")]
    Metadata(#[from] kv::MetadataError),
    /// A value is too long.
    #[error("the value has {bytes} bytes, and none may have more than 25 MiB ({largest})")]
    TooLong {
        /// How many it has.
        bytes: u64,
        /// How many it may have.
        largest: u64,
    },
    /// It has to be said which namespace is meant.
    #[error("which namespace is meant? The token is for {0}; --namespace names one")]
    Namespace(String),
    /// It is reached over TLS, which needs certificates.
    #[error(transparent)]
    Client(#[from] http::Error),
    /// The runtime could not be started.
    #[error("cannot start a runtime")]
    Runtime(#[source] io::Error),
}

impl Error {
    /// What would help.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unreachable { failure: http::Failure::Tls(_), .. } => Some(
                "--ca FILE names the certificate of the authority that signed the store's; its name has to be in the store's certificate".to_owned(),
            ),
            Self::Unreachable { .. } => Some(
                "is a data centre running whose network's file has this address as `listen` of [kv]? --at names another".to_owned(),
            ),
            _ => None,
        }
    }
}
