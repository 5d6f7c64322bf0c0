//! A marker on responses to peer data centres: the object is stored here.

/// A response extension: the body is stored, or is being stored, so that a later request from the peer hits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kept;
