//! A data centre of an edge network: a caching reverse proxy with tiers, purge replication and a KV store.
//!
//! | topic | module |
//! | --- | --- |
//! | the network file and its validation | [`config`] |
//! | state that all requests of a data centre share | `server/node.rs` |
//! | the processing of a request, step by step | `request/pipeline.rs` |
//! | admission of a request; its zone, rule and cache key | `request/context.rs` |
//! | end-to-end fields, which origins receive and decisions use | `request/hop_by_hop.rs` |
//! | updating a stored response with a 304, a HEAD or a part | `cache/freshen.rs` |
//! | collapsed forwarding, and passed requests | `cache/collapse.rs`, `cache/miss.rs`, `util/detach_on_drop.rs`; `cache/hit_for_miss.rs` |
//! | requests to a peer or an origin after a miss | `upstream/select.rs` |
//! | origins: health, request fields, response fields | `upstream/origins.rs`, `upstream/forwarded.rs`, `upstream/trailers.rs` |
//! | routes to an origin: direct, and through other data centres | `upstream/route_attempts.rs` |
//! | peers: health, measurements, tiers | `peers.rs` |
//! | a request to a peer, and its internal fields | `peers/client.rs`, `peers/headers.rs` |
//! | requests from peers | `peers/server.rs`, `peers/headers.rs` |
//! | purges: application, log, exchange, acknowledgement | `purge/apply.rs`; `purge/log.rs`, `purge/sync.rs`, `purge/acks.rs` |
//! | replication of purges through NATS | `purge/nats.rs`, `purge/log/nats_position.rs` |
//! | Max-Forwards of OPTIONS and TRACE | `request/max_forwards.rs` |
//! | WebSocket and other upgraded protocols | `request/upgrade.rs`, `peers/tunnel.rs` |
//! | order of responses: an older one never replaces a newer one | `cache/in_flight.rs` |
//! | objects in memory, their variants, and purges | `store/memory.rs`, `store/purge_index.rs`, `util/compact_headers.rs` |
//! | objects on disk, and purges that they may precede | `store/disk.rs`, `purge/record.rs`; `cache/disk_lookup.rs` |
//! | hits on objects that are only on disk | `fast_path/disk_heads.rs` |
//! | a body that is read while it is filled; continuation after a truncated response | `body/shared.rs`, `cache/fill.rs` |
//! | partial content: requests, storage, assembly | `cache/range_hit.rs`, `cache/range_fill.rs`, `body/sparse.rs`, `body/concat.rs` |
//! | the response from a stored object: 200, 206, 304, 416 | `response/build.rs` |
//! | compression of responses, and storage of the result | `response/compress.rs`, `response/encoder.rs` |
//! | the synchronous hit path, also for peers: the store is locked once per second and object; over HTTP/1.1 without allocation and task | `fast_path/hit_table.rs`, `fast_path/request_table.rs`, `fast_path/fingerprint.rs`, `fast_path/prerendered.rs`, `peers/headers/borrowed.rs` |
//! | requests that are relayed without a cache lookup | `fast_path/raw_forward.rs`, `fast_path/pass_table.rs` |
//! | state per worker thread: connections to origins, sockets | `server/worker_state.rs`, `upstream/connectors.rs`, `server/listeners.rs`, `server/worker.rs` |
//! | inherited sockets, and handover to a new process | `server/inherited_sockets.rs`, `server/hot_restart.rs` |
//! | preflight checks of `edge check` | `server/preflight.rs` |
//! | certificates for data centres | `server/ca.rs` |
//! | the KV store: opened here, served by the crate `values` | `server/kv.rs` |
//! | counters and the access log | `telemetry/counters.rs`, `telemetry/access_log.rs`, `telemetry/delivery.rs` |
//! | traced requests: sampling, spans, export | `telemetry/traces.rs` |
//! | status, explanation and purge for the operator | `admin/server.rs`, `admin/tier_settings.rs`, `admin/explain.rs`, `admin/metrics.rs`; client: [`admin::api`] |
//!
//! The crate `cache` decides what may be stored and used, without clock and sockets. The crate `http`
//! implements HTTP. This crate performs input and output, and runs the tasks.

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
