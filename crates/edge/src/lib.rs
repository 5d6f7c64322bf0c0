//! A data centre of an edge network: a caching reverse proxy with tiers, purge replication and a KV store.
//!
//! | topic | module |
//! | --- | --- |
//! | the network file and its validation | [`network`] |
//! | state that all requests of a data centre share | `centre.rs` |
//! | the processing of a request, step by step | `chain.rs` |
//! | admission of a request; its zone, rule and cache key | `visit.rs` |
//! | end-to-end fields, which origins receive and decisions use | `end_to_end.rs` |
//! | updating a stored response with a 304, a HEAD or a part | `confirm.rs` |
//! | collapsed forwarding, and passed requests | `flights.rs`, `fetch.rs`, `lasting.rs`; `passing.rs` |
//! | requests to a peer or an origin after a miss | `asking.rs` |
//! | origins: health, request fields, response fields | `origins.rs`, `forwarded.rs`, `trailers.rs` |
//! | routes to an origin: direct, and through other data centres | `routes.rs` |
//! | peers: health, measurements, tiers | `others.rs` |
//! | a request to a peer, and its internal fields | `toward.rs`, `came.rs` |
//! | requests from peers | `for_others.rs`, `kept.rs` |
//! | purges: application, log, exchange, acknowledgement | `purging.rs`; `bus.rs`, `exchange.rs`, `acknowledged.rs` |
//! | replication of purges through NATS | `nats.rs`, `bus/stream.rs` |
//! | Max-Forwards of OPTIONS and TRACE | `last_hop.rs` |
//! | WebSocket and other upgraded protocols | `upgrade.rs`, `tunnel.rs` |
//! | order of responses: an older one never replaces a newer one | `in_flight.rs` |
//! | objects in memory, their variants, and purges | `store.rs`, `names.rs`, `compact.rs` |
//! | objects on disk, and purges that they may precede | `on_disk.rs`, `note.rs`; `from_disk.rs` |
//! | hits on objects that are only on disk | `heads.rs` |
//! | a body that is read while it is filled; continuation after a truncated response | `fill.rs`, `pour.rs` |
//! | partial content: requests, storage, assembly | `partial.rs`, `keeping.rs`, `parts.rs`, `sequence.rs` |
//! | the response from a stored object: 200, 206, 304, 416 | `answer.rs` |
//! | compression of responses, and storage of the result | `compress.rs`, `coder.rs` |
//! | the synchronous hit path, also for peers: the store is locked once per second and object; over HTTP/1.1 without allocation and task | `hits.rs`, `alike.rs`, `likeness.rs`, `ready.rs`, `came/plain.rs` |
//! | requests that are relayed without a cache lookup | `relay.rs`, `ways.rs` |
//! | state per worker thread: connections to origins, sockets | `core.rs`, `clients.rs`, `doors.rs`, `worker.rs` |
//! | inherited sockets, and handover to a new process | `sockets.rs`, `handover.rs` |
//! | preflight checks of `edge check` | `preflight.rs` |
//! | certificates for data centres | `authority.rs` |
//! | the KV store: opened here, served by the crate `values` | `kv.rs` |
//! | counters and the access log | `counts.rs`, `log.rs`, `sending.rs` |
//! | traced requests: sampling, spans, export | `traces.rs` |
//! | status, explanation and purge for the operator | `admin.rs`, `settings.rs`, `explain.rs`, `metrics.rs`; client: [`operator`] |
//!
//! The crate `cache` decides what may be stored and used, without clock and sockets. The crate `http`
//! implements HTTP. This crate performs input and output, and runs the tasks.

mod acknowledged;
mod admin;
mod alike;
mod answer;
mod asking;
mod authority;
mod bus;
mod came;
mod centre;
mod chain;
mod clients;
mod clock;
mod coder;
mod compact;
mod compress;
mod confirm;
mod core;
mod counts;
mod digits;
mod doors;
mod end_to_end;
mod error;
mod exchange;
mod explain;
mod fetch;
mod fill;
mod flights;
mod for_others;
mod forwarded;
mod from_disk;
mod handover;
mod heads;
mod hits;
mod in_flight;
mod keeping;
mod kept;
mod kv;
mod last_hop;
mod lasting;
mod likeness;
mod log;
mod metrics;
mod names;
mod nats;
pub mod network;
mod note;
mod on_disk;
pub mod operator;
mod origins;
mod others;
mod partial;
mod parts;
mod passing;
mod pour;
mod preflight;
mod purging;
mod ready;
mod relay;
mod reload;
mod routes;
mod run;
mod sending;
mod sequence;
mod settings;
mod sockets;
mod store;
#[cfg(test)]
mod tests;
mod toward;
mod traces;
mod trailers;
mod tunnel;
mod upgrade;
mod visit;
mod ways;
mod worker;

pub use self::{
    admin::Token,
    authority::Certificate,
    error::Error,
    network::Network,
    others::{OfOrigin, OfZone, Sample, Told},
    preflight::{Obstacle, Severity, obstacles},
    run::{Config, Event, Ready, run},
    sockets::Sockets,
};
#[doc(hidden)]
pub use self::{bus::is_message_read_as_written, came::is_read_as_written, nats::is_entry_read_as_written};
