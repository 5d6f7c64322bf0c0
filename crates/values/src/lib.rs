//! A key-value store over HTTP: as workerd's `kvNamespace` binding asks for it, as operators and their programs do, and as the command
//! line does.
//!
//! | to see | look into |
//! | --- | --- |
//! | what is served, and who may use it | [`Config`], [`Access`], [`Namespace`] |
//! | namespaces that are made over the API | `catalogue.rs`, `looks.rs` |
//! | the store: a file or a stream of NATS | [`Place`], `store.rs` |
//! | what all requests share: opened, left to another process, closed | [`Service`] |
//! | what answers requests, and the reads that take no more than a look | [`Door`] |
//! | requests that come while another process takes this one's place | `elsewhere.rs` |
//! | what a read, a write, a page and many keys at once are | `operations.rs`, `several.rs` |
//! | copies of values in memory, and on disk | `copies.rs`, `shelf.rs` |
//! | a value in a file, as it is read | `pieces.rs` |
//! | other data centres: who is asked and told, and what over links | [`Links`], `linked.rs` |
//! | the protocol of workerd's binding | `binding.rs` |
//! | the REST API, in the envelope of its field | `rest.rs`, `envelope.rs` |
//! | a value that comes in a form, or as it is | [`multipart`], `incoming.rs` |
//! | many pairs in one body of JSON | [`pairs`] |
//! | parameters of a URL | [`Parameters`] |
//! | why a request is refused, as a status and a sentence | `problem.rs` |
//! | what is counted, and what the operator is told | [`Status`] |
//! | the store from outside: one command, one request | [`Remote`]; a line of an export: [`Line`] |
//!
//! What a key, a version and a page are says the engine, `kv`; what is on disk is the crate `vault`'s, what is in NATS `jetstream`'s.

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

pub use jetstream::{Address, NoAddress};
pub use vault::{Company, Inspection, inspect, repair, salvage};

#[cfg(test)]
mod tests;
