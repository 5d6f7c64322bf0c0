//! A key-value store over HTTP, with the protocol of workerd's `kvNamespace` binding and a REST API for
//! operators and the command line.
//!
//! | topic | module or type |
//! | --- | --- |
//! | configuration and access control | [`Config`], [`Access`], [`Namespace`] |
//! | namespaces created over the API | `catalogue.rs`, `looks.rs` |
//! | the store: a file or a NATS stream | [`Place`], `store.rs` |
//! | state shared by all requests, handover to another process, shutdown | [`Service`] |
//! | the request handler, with a fast path for reads from memory | [`Door`] |
//! | forwarding requests to a successor process | `elsewhere.rs` |
//! | reads, writes, lists and bulk reads | `operations.rs`, `several.rs` |
//! | copies of values in memory and on disk | `copies.rs`, `shelf.rs` |
//! | streaming a value from a file | `pieces.rs` |
//! | requests to and from other data centres | [`Links`], `linked.rs` |
//! | the protocol of workerd's binding | `binding.rs` |
//! | the REST API and its response envelope | `rest.rs`, `envelope.rs` |
//! | raw and multipart request bodies | [`multipart`], `incoming.rs` |
//! | bulk writes in JSON | [`pairs`] |
//! | URL query parameters | [`Parameters`] |
//! | error responses | `problem.rs` |
//! | counters and the operator's status | [`Status`] |
//! | the client of the command line | [`Remote`]; a line of an export: [`Line`] |
//!
//! The crate `kv` defines keys, versions and pages, `vault` the file format, and `jetstream` the storage in
//! NATS.

mod accept;
mod access;
mod binding;
mod catalogue;
mod config;
mod copies;
mod counts;
mod door;
mod elsewhere;
mod encoding;
mod envelope;
mod error;
mod file_check;
mod incoming;
mod json;
mod line;
mod linked;
mod looks;
pub mod multipart;
mod operations;
pub mod pairs;
mod parameters;
mod pieces;
mod problem;
mod refused;
mod remote;
mod rest;
mod scrub;
mod service;
mod several;
mod shelf;
mod store;
mod value;

pub use self::{
    access::{Access, Namespace},
    config::{Config, Place},
    counts::{FromOthers, InNetwork, Integrity, OnDisk, Pair, Status},
    door::Door,
    error::Error,
    file_check::{FileCheck, Gap},
    line::{Line, LineError},
    linked::{Links, Sending, Unreached, Whereabouts, WouldAnswer, is_read_as_written},
    parameters::Parameters,
    problem::Problem,
    refused::{Acceptance, RefusedStream, Seen},
    remote::{Came, Got, Listed, ListedKey, Moved, NamespaceLine, NamespaceList, Put, Remote, Written},
    service::Service,
};

pub use kv_nats::{Address, NoAddress};
pub use kv_redb::{Company, Inspection, inspect, repair, salvage};

#[cfg(test)]
mod tests;
