//! The path of a request; start reading at `pipeline.rs`.

pub(crate) mod body_limit;
pub(crate) mod client_address;
pub(crate) mod context;
pub(crate) mod handler;
pub(crate) mod hop_by_hop;
pub(crate) mod max_forwards;
pub(crate) mod pipeline;
pub(crate) mod rate_limit;
pub(crate) mod rejection;
pub(crate) mod upgrade;
