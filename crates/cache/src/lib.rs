//! The decisions of an HTTP cache: pure functions of a request's head, a stored response and the time.
//!
//! | to see | look into |
//! | --- | --- |
//! | under which name a response is found, and which fields that always depends on | [`Key`], [`overrides_request`] |
//! | the normal form of a URL's path, and how origins may read it | [`path`] |
//! | whether a Content-Type fits the path's extension | [`fits_extension`] |
//! | what a response's Cache-Control asks for, and the targeted fields before it | [`Control`] |
//! | whether a response may be stored, and why not | [`may_store`] |
//! | which fields only the client gets that asked | [`take_personal`] |
//! | how long it is fresh, and how old it is | [`Terms`] |
//! | whether a stored response answers a request | [`Stored::reuse`] |
//! | which of several variants matches | [`Selection`] |
//! | which responses are compressed, and how, for whom | [`Form`] |
//! | 304 instead of a body; parts of a body | [`is_not_modified`], [`ranges`] |
//! | an unsolicited 304 or 206 | [`is_solicited`] |
//! | the rest of a body that broke off, or what is missing between its parts | [`Rest`] |
//! | what a 206 brings, and what may be combined with it | [`Fragment`] |
//! | which bytes of a body are here, and which requests they answer | [`Coverage`] |
//! | what a 304 or a HEAD changes in a stored response, and which answers end its use | [`update`] |
//! | what an unsafe request makes invalid | [`invalidation`] |
//! | what was purged, and in which order | [`purge`] |
//! | which objects a full store gives up | [`Eviction`] |
//! | how tables by a key or an object's number are spread | [`Spread`] |
//! | a response without its body as bytes | [`head`] |
//! | Max-Forwards of TRACE and OPTIONS | [`MaxForwards`] |
//! | which fields are the network's own, and leave it with nobody | [`internal`] |
//! | what is told of it all to the client | [`CacheStatus`] |
//! | what a client is told | [`Told`] |
//!
//! Nothing here has a clock, a socket or a body: the caller brings the time, and keeps the bytes.

mod conditional;
mod control;
mod coverage;
mod directives;
mod encoding;
mod eviction;
mod extension;
mod fragment;
mod freshness;
pub mod head;
pub mod internal;
pub mod invalidation;
mod key;
mod max_forwards;
mod numbers;
pub mod path;
mod personal;
pub mod purge;
pub mod ranges;
mod request;
mod rest;
mod reuse;
mod selection;
mod status;
mod storable;
mod time;
mod told;
pub mod update;

pub use self::{
    conditional::{DateMatch, Validators, is_not_modified, is_solicited, make_unconditional},
    control::Control,
    coverage::{Coverage, Gap, Supply},
    encoding::{Coding, Form, is_coded, names_coding},
    eviction::Eviction,
    extension::fits_extension,
    fragment::{Fragment, is_same_representation, representation_fields},
    freshness::{Lifetime, Terms, rule_lifetime},
    key::{Key, KeyRule, overrides_request},
    max_forwards::MaxForwards,
    numbers::Spread,
    personal::{SetCookie, take_personal},
    request::Wishes,
    rest::Rest,
    reuse::{Reuse, Stored},
    selection::Selection,
    status::{CacheStatus, Forward},
    storable::{NotStored, is_never_stored, may_store},
    time::Time,
    told::Told,
};
