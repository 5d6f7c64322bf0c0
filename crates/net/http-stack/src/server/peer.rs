//! Information about the client for handlers.

use std::net::SocketAddr;

use crate::Scheme;

/// The client of a request's connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// The client's address.
    pub address: SocketAddr,
    /// Whether the connection uses TLS, which an HTTP/1 request does not contain.
    pub scheme: Scheme,
}
