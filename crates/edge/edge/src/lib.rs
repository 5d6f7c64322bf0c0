//! A data centre of an edge network: a caching reverse proxy with tiers, purge replication and a KV
//! store.
//!
//! The network file is in [`config`], the client of the admin interface in [`admin::api`]. A
//! request takes the synchronous hit path (`fast_path`) or `request/pipeline.rs`, which uses
//! `cache`, `upstream`, `peers` and `response`. `server/node.rs` holds the state that all requests
//! share; `store` and `body` hold the objects.
//!
//! The crate `http_cache` decides what may be stored and used, without clock and sockets. The crate
//! `http_stack` implements HTTP. This crate performs input and output, and runs the tasks.

pub mod admin;
mod body;
mod cache;
pub mod config;
mod error;
mod fast_path;
mod peers;
mod purge;
mod request;
mod response;
mod rules;
mod server;
mod store;
mod telemetry;
#[cfg(test)]
mod tests;
mod upstream;
mod util;

pub use self::{
    admin::server::Token,
    config::Network,
    error::Error,
    peers::{HeartbeatReply, OriginSamples, Sample, ZoneUpper},
    server::{
        ca::Certificate,
        inherited_sockets::InheritedSockets,
        preflight::{Obstacle, Severity, obstacles},
        run::{Config, Event, ListenAddresses, run},
    },
};
#[doc(hidden)]
pub use self::{
    peers::headers::forwarded_request_round_trips,
    purge::{log::sync_message_round_trips, nats::nats_record_round_trips},
};
