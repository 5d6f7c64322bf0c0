//! A key-value store over HTTP, with the protocol of workerd's `kvNamespace` binding and a REST API
//! for operators and the command line.
//!
//! | topic | module or type |
//! | --- | --- |
//! | configuration and access control | [`Config`], [`Access`], [`Namespace`] |
//! | namespaces created over the API | `namespace_registry.rs`, `shared_refresh.rs` |
//! | the store: a file or a NATS stream | [`Place`], `store.rs` |
//! | state shared by all requests, handover to another process, shutdown | [`Service`] |
//! | the request handler, with a fast path for reads from memory | [`KvHandler`] |
//! | forwarding requests to a successor process | `successor_proxy.rs` |
//! | reads, writes, lists and bulk reads | `operations.rs`, `bulk_read.rs` |
//! | copies of values in memory and on disk | `value_cache.rs`, `disk_cache.rs` |
//! | streaming a value from a file | `value_stream.rs` |
//! | requests to and from other data centres | [`PeerLinks`], `replication.rs` |
//! | the protocol of workerd's binding | `workerd_binding.rs` |
//! | the REST API and its response envelope | `rest.rs`, `envelope.rs` |
//! | raw and multipart request bodies | [`multipart`], `request_body.rs` |
//! | bulk writes in JSON | [`pairs`] |
//! | URL query parameters | [`Parameters`] |
//! | error responses | `api_error.rs` |
//! | counters and the operator's status | [`Status`] |
//! | the client of the command line | [`KvClient`]; a line of an export: [`ExportLine`] |
//!
//! The crate `kv` defines keys, versions and pages, `kv-redb` the file format, and `kv-nats` the
//! storage in NATS.

mod accept;
mod access;
mod api_error;
pub mod bulk;
mod bulk_read;
mod client;
mod config;
mod counts;
mod disk_cache;
mod encoding;
mod envelope;
mod error;
mod export_line;
mod file_check;
mod http_handler;
mod json;
pub mod multipart;
mod namespace_registry;
mod operations;
mod query;
mod refused_stream;
mod replication;
mod request_body;
mod rest;
mod scrub;
mod service;
mod shared_refresh;
mod store;
mod successor_proxy;
mod value;
mod value_cache;
mod value_stream;
mod workerd_binding;

pub use self::{
    access::{Access, Namespace},
    api_error::ApiError,
    client::{Came, Got, KvClient, Listed, ListedKey, Moved, NamespaceLine, NamespaceList, Put, Written},
    config::{Config, Place},
    counts::{FromOthers, InNetwork, Integrity, OnDisk, Pair, Status},
    error::Error,
    export_line::{ExportLine, LineError},
    file_check::{FileCheck, Gap},
    http_handler::KvHandler,
    query::Parameters,
    refused_stream::{Acceptance, RefusedStream, Seen},
    replication::{CopyReport, PeerError, PeerLinks, Sending, WouldAnswer, is_read_as_written},
    service::Service,
};

pub use kv_nats::{Address, AddressError};
pub use kv_redb::{Inspection, Pairing, inspect, repair, salvage};

#[cfg(test)]
mod tests;
