//! Errors of stores and of the command line's client.

use std::io;

/// The reason why an operation failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store's file failed.
    #[error(transparent)]
    Store(#[from] kv_redb::Error),
    /// The store in NATS failed.
    #[error(transparent)]
    Nats(#[from] kv_nats::Error),
    /// The store does not respond.
    #[error("no response from {address}: {failure}")]
    Unreachable {
        /// The store's address.
        address: String,
        /// The failure.
        failure: http_stack::Failure,
    },
    /// The store refused the request.
    #[error("{address}: {why}")]
    Refused {
        /// The store's address.
        address: String,
        /// The store's message.
        why: String,
    },
    /// The key is invalid.
    #[error("the key cannot be used: {0}")]
    Key(#[from] kv::KeyError),
    /// The metadata are invalid.
    #[error("the metadata cannot be used: {0}")]
    Metadata(#[from] kv::MetadataError),
    /// A value is too long.
    #[error("the value has {bytes} bytes; the limit is 25 MiB ({largest})")]
    TooLong {
        /// The value's length in bytes.
        bytes: u64,
        /// The largest allowed length in bytes.
        largest: u64,
    },
    /// The token is valid in several namespaces, and the request does not select one.
    #[error("the token is for the namespaces {0}: select one with --namespace")]
    Namespace(String),
    /// The TLS client could not be set up.
    #[error(transparent)]
    Client(#[from] http_stack::Error),
    /// The runtime could not be started.
    #[error("cannot start a runtime")]
    Runtime(#[source] io::Error),
}

impl Error {
    /// A suggestion for the operator.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unreachable { failure: http_stack::Failure::Tls(_), .. } => Some(
                "--ca FILE names the certificate of the authority that signed the store's; its name has to be in the store's certificate".to_owned(),
            ),
            Self::Unreachable { .. } => Some(
                "check that a data centre is running whose network's file has this address as `listen` of [kv], or name another one with --at".to_owned(),
            ),
            _ => None,
        }
    }
}
