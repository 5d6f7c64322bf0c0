//! Header fields without a caching decision: hop-by-hop fields, and fields between data centres.

pub mod hop_by_hop;
pub mod internal_headers;
