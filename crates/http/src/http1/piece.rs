//! What comes out of the bytes of a body, one at a time.

use bytes::{Bytes, BytesMut};
use hyper::HeaderMap;

/// A piece of a body.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece {
    /// Some of its data, never none.
    Data(Bytes),
    /// The fields behind it. Only the end follows.
    Trailers(HeaderMap),
    /// More bytes are needed.
    Wanting,
    /// It is whole.
    End,
}

/// As many of `bytes` as there are and as are wanted.
pub(super) fn take(bytes: &mut BytesMut, wanted: &mut u64) -> Bytes {
    let most = usize::try_from(*wanted).unwrap_or(usize::MAX).min(bytes.len());
    *wanted -= most as u64;
    bytes.split_to(most).freeze()
}
