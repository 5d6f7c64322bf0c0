//! What a handler gets to know about the client.

use std::net::SocketAddr;

use crate::Scheme;

/// The other end of a request's connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// Its address.
    pub address: SocketAddr,
    /// Whether it came over TLS, which is nowhere in an HTTP/1 request.
    pub scheme: Scheme,
}
