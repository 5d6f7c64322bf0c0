//! HTTP/1.1's messages as bytes (RFC 9112), without I/O: what a client and a server share.
//!
//! | to see | look into |
//! | --- | --- |
//! | where a head ends, and what it says | [`head`] |
//! | how long a body is, or why nobody can say | [`framing`] |
//! | chunks, their trailers, both ways | [`chunked`] |
//! | any body on its way in | [`body`] |
//! | any message on its way out, and where it goes | `outgoing.rs`, `outlet.rs` |
//!
//! It is strict where two readers could take the same bytes for different messages, as that is what request smuggling lives
//! on: such a message is an error and its connection ends. What it keeps of a peer's bytes is bounded by [`limits`](crate::limits).

pub mod body;
pub mod chunked;
pub mod framing;
pub mod head;
mod outgoing;
mod outlet;
mod piece;

use hyper::{
    HeaderMap,
    header::{self, HeaderName},
};

pub use self::{
    body::Incoming,
    framing::{Framing, Persistence},
    head::{RequestHead, ResponseHead},
    piece::Piece,
};
pub(crate) use self::{
    outgoing::{Outgoing, Trailers},
    outlet::Outlet,
};

/// Why bytes are no message. A server answers each with a status of its own, and closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Not HTTP, or not by its grammar: 400.
    #[error("not HTTP/1.1")]
    Syntax,
    /// Two readers could disagree on where the message ends: 400.
    #[error("nobody can say how long it is")]
    Framing,
    /// The request names no host, several, or one that cannot be: 400.
    #[error("no host, or not one")]
    Host,
    /// Beyond [`HEADERS`](crate::limits::HEADERS) or [`HEADER_BYTES`](crate::limits::HEADER_BYTES): 431.
    #[error("its header is too large")]
    TooLarge,
    /// A transfer coding besides `chunked`: 501.
    #[error("a transfer coding that is not known here")]
    Coding,
    /// Another version than HTTP/1.0 and HTTP/1.1, or something else in its place: 505.
    #[error("another version of HTTP")]
    Version,
}

/// Removes the fields that trailers may not have: fields about framing, routing and content (RFC 9110 section 6.5.1).
pub(crate) fn clear_trailers(trailers: &mut HeaderMap) {
    let unfit: Vec<HeaderName> = trailers.keys().filter(|name| !may_trail(name)).cloned().collect();
    for name in &unfit {
        trailers.remove(name);
    }
}

/// Whether trailers may have fields of this name.
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
