//! What both ends of an HTTP/3 connection have in common: a message's body on its way in and on its way out.
//!
//! A body that breaks off resets its stream, and so does one that is dropped half-way: quinn would end such a stream in
//! order, and the other end would take a part for the whole.

mod bounded;
mod incoming;
mod outgoing;

use h3::error::Code;
use hyper::HeaderMap;

pub(crate) use self::{
    bounded::{Connection, OpenStreams, RecvStream, Refused},
    incoming::Incoming,
    outgoing::Outgoing,
};
use crate::{Failure, http1::framing};

/// The Content-Length of a message, if present. An invalid value makes the message malformed.
pub(crate) fn announced(headers: &HeaderMap) -> Result<Option<u64>, Failure> {
    framing::length(headers).map_err(|_| MALFORMED)
}

/// The failure of a malformed message (RFC 9114 section 4.1.2).
pub(crate) const MALFORMED: Failure = Failure::Http3(Code::H3_MESSAGE_ERROR.value());
