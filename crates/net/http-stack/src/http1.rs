//! HTTP/1.1 messages as bytes (RFC 9112), without I/O, for client and server.
//!
//! Parsing is strict where two implementations could interpret the same bytes as different
//! messages, because request smuggling depends on that: such a message is an error and its
//! connection is closed. The memory used for a peer's bytes is bounded by
//! [`limits`](crate::limits).

pub mod body;
mod chunk;
pub mod chunked;
pub mod framing;
pub mod head;
mod outgoing;
mod sendfile_io;

use hyper::{
    HeaderMap,
    header::{self, HeaderName},
};

pub use self::{
    body::Incoming,
    chunk::Chunk,
    framing::{Framing, Persistence},
    head::{RequestHead, ResponseHead},
};
pub(crate) use self::{
    outgoing::{Outgoing, Trailers},
    sendfile_io::SendfileIo,
};

/// Why a message is invalid. The server responds with the status listed and closes the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Not HTTP, or a syntax error: 400.
    #[error("not HTTP/1.1")]
    Syntax,
    /// The end of the message is ambiguous: 400.
    #[error("ambiguous message length")]
    Framing,
    /// The request has no host, several hosts, or an invalid one: 400.
    #[error("missing or invalid host")]
    Host,
    /// The header exceeds [`HEADERS`](crate::limits::HEADERS) or
    /// [`HEADER_BYTES`](crate::limits::HEADER_BYTES): status 431.
    #[error("header too large")]
    TooLarge,
    /// A transfer coding other than `chunked`: 501.
    #[error("unsupported transfer coding")]
    Coding,
    /// A version other than HTTP/1.0 and HTTP/1.1, or an invalid one: 505.
    #[error("unsupported HTTP version")]
    Version,
}

/// Removes the fields for framing, routing and content (RFC 9110 section 6.5.1).
pub(crate) fn clear_trailers(trailers: &mut HeaderMap) {
    let unfit: Vec<HeaderName> = trailers.keys().filter(|name| !may_trail(name)).cloned().collect();
    for name in &unfit {
        trailers.remove(name);
    }
}

fn may_trail(name: &HeaderName) -> bool {
    ![
        header::AUTHORIZATION,
        header::CACHE_CONTROL,
        header::CONNECTION,
        header::CONTENT_ENCODING,
        header::CONTENT_LENGTH,
        header::CONTENT_RANGE,
        header::CONTENT_TYPE,
        header::HOST,
        header::MAX_FORWARDS,
        header::SET_COOKIE,
        header::TE,
        header::TRAILER,
        header::TRANSFER_ENCODING,
    ]
    .contains(name)
}
