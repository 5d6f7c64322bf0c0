//! What both ends of an HTTP/3 connection have in common: a message's body on its way in and on its way out.
//!
//! A body that breaks off resets its stream, and so does one that is dropped half-way: quinn would end such a stream in
//! order, and the other end would take a part for the whole.

mod bounded;
mod incoming;
mod outgoing;

use hyper::HeaderMap;

pub(crate) use self::{
    bounded::{Connection, OpenStreams, RecvStream, TooLong},
    incoming::Incoming,
    outgoing::Outgoing,
};

/// The length that a message announces for its body, if it does.
pub(crate) fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(hyper::header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}
