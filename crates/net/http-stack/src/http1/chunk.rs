//! The pieces of a decoded body.

use bytes::{Bytes, BytesMut};
use hyper::HeaderMap;

/// A piece of a body.
#[derive(Debug, PartialEq, Eq)]
pub enum Chunk {
    /// Data; not empty.
    Data(Bytes),
    /// The trailers. Only the end follows.
    Trailers(HeaderMap),
    /// More bytes are needed.
    Wanting,
    /// The body is complete.
    End,
}

pub(super) fn take(bytes: &mut BytesMut, wanted: &mut u64) -> Bytes {
    let most = usize::try_from(*wanted).unwrap_or(usize::MAX).min(bytes.len());
    *wanted -= most as u64;
    bytes.split_to(most).freeze()
}
