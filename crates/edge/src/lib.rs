//! A cache in front of origins: one data centre of an edge network.
//!
//! | to see | look into |
//! | --- | --- |
//! | the network as one file describes it, and its mistakes | [`network`] |
//! | what all requests of a data centre share | `centre.rs` |
//! | the life of a request, from top to bottom | `chain.rs` |
//! | who is let in, and under which zone, rule and key | `visit.rs` |
//! | which fields of a request its origin gets, and all decisions see | `end_to_end.rs` |
//! | freshening a stored response with a 304, a HEAD or a part | `confirm.rs` |
//! | one request at the origin for many that wait | `flights.rs`, `fetch.rs`, `lasting.rs`; `passing.rs` |
//! | who is asked for what is not here: another data centre or an origin | `asking.rs` |
//! | how origins are, what they are sent, and what of their answers stays inside | `origins.rs`, `forwarded.rs`, `trailers.rs` |
//! | ways to an origin: the direct one, and through other data centres | `routes.rs` |
//! | the other data centres: which are up, what all of them measured, who is next for a key | `others.rs` |
//! | one request to another data centre; what it says beside what visitors say | `toward.rs`, `came.rs` |
//! | what other data centres ask | `for_others.rs`, `kept.rs` |
//! | purges: done here; what is known of them in the network, and how it is told | `purging.rs`; `bus.rs`, `exchange.rs`, `acknowledged.rs` |
//! | purges through a stream of NATS as well | `nats.rs`, `bus/stream.rs` |
//! | Max-Forwards of OPTIONS and TRACE | `last_hop.rs` |
//! | WebSocket and other protocols, passed through | `upgrade.rs` |
//! | order of answers: none takes the place of the answer to a later request | `in_flight.rs` |
//! | objects in memory, their variants, and purges | `store.rs`, `names.rs`, `compact.rs` |
//! | objects on disk, which survive restarts; purges that they may not know of | `on_disk.rs`, `note.rs`; `from_disk.rs` |
//! | a hit on what is on disk alone: its head is ready, and its body is read | `heads.rs` |
//! | a body that is read while it is still coming; its rest, if its origin broke off | `fill.rs`, `pour.rs` |
//! | parts of what is not stored as a whole: asked for, kept, put together | `partial.rs`, `keeping.rs`, `parts.rs`, `sequence.rs` |
//! | from a stored object to a response: 200, 206, 304, 416 | `answer.rs` |
//! | text that is compressed on its way, and stored so | `compress.rs`, `coder.rs` |
//! | a hit on a plain request, also of another data centre: no look at the store, whose lock is taken once a second for an object; over HTTP/1.1 no allocation and no task | `hits.rs`, `alike.rs`, `likeness.rs`, `ready.rs`, `came/plain.rs` |
//! | a plain request that is passed on line by line, as one like it was | `relay.rs`, `ways.rs` |
//! | what each thread has to itself: connections to origins, sockets | `core.rs`, `clients.rs`, `doors.rs`, `worker.rs` |
//! | sockets that listen already, and a process that takes the place of another | `sockets.rs`, `handover.rs` |
//! | preflight checks of `edge check` | `preflight.rs` |
//! | certificates that an operator signs for data centres | `authority.rs` |
//! | the key-value store: opened here, served by the crate `values` | `kv.rs` |
//! | what is counted, and the access log | `counts.rs`, `log.rs`, `sending.rs` |
//! | requests with a trace: which, their spans, and where those go | `traces.rs` |
//! | status, explanation and purge for the operator | `admin.rs`, `settings.rs`, `explain.rs`, `metrics.rs`; [`operator`] asks for them |
//!
//! What may be stored and used is decided in the crate `cache`, which has neither clock nor socket; HTTP is spoken by the crate
//! `http`. Here are the bytes and the tasks.

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
