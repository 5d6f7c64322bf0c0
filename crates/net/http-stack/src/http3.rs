//! Message bodies on HTTP/3 streams, for client and server.
//!
//! A body that fails or is dropped early resets its stream. Without that, quinn would finish the stream
//! normally and the peer would take a partial body as complete.

mod incoming;
mod limited_quic;
mod outgoing;

use h3::error::Code;
use hyper::HeaderMap;

pub(crate) use self::{
    incoming::Incoming,
    limited_quic::{Connection, OpenStreams, RecvStream, Refused},
    outgoing::Outgoing,
};
use crate::{Failure, http1::framing};

/// An invalid value makes the message malformed.
pub(crate) fn announced(headers: &HeaderMap) -> Result<Option<u64>, Failure> {
    framing::length(headers).map_err(|_| MALFORMED)
}

/// The failure of a malformed message (RFC 9114 section 4.1.2).
pub(crate) const MALFORMED: Failure = Failure::Http3(Code::H3_MESSAGE_ERROR.value());
