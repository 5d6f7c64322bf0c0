//! The decision logic of an HTTP cache: pure functions of request headers, stored responses and the time.
//!
//! | topic | item |
//! | --- | --- |
//! | cache keys, and fields that are always part of them | [`Key`], [`overrides_request`] |
//! | normal form of a URL's path, and alternative readings of origins | [`path`] |
//! | check of Content-Type against the path's extension | [`fits_extension`] |
//! | Cache-Control and targeted cache fields of responses | [`Control`] |
//! | storability of a response | [`may_store`] |
//! | fields that are sent to the requesting client only | [`take_personal`] |
//! | freshness lifetime and age | [`Terms`] |
//! | reuse of a stored response for a request | [`Stored::reuse`] |
//! | selection of variants by Vary | [`Selection`] |
//! | compression | [`Form`] |
//! | responses to conditional and range requests | [`is_not_modified`], [`ranges`] |
//! | unsolicited 304 and 206 responses | [`is_solicited`] |
//! | the missing rest or part of a body | [`Rest`] |
//! | combination of 206 responses | [`Fragment`] |
//! | partially stored bodies | [`Coverage`] |
//! | updates of stored responses by 304 and HEAD, and the end of their use | [`update`] |
//! | invalidation by unsafe requests | [`invalidation`] |
//! | purges | [`purge`] |
//! | eviction and admission | [`Eviction`] |
//! | hashing of keys and object numbers | [`Spread`] |
//! | binary format of a response without its body | [`head`] |
//! | Max-Forwards of TRACE and OPTIONS | [`MaxForwards`] |
//! | internal fields of the network | [`internal`] |
//! | generation of Cache-Status | [`CacheStatus`] |
//! | parsing of Cache-Status | [`Told`] |
//!
//! The crate has no clock, no sockets and no bodies: the caller provides the time and stores the bytes.

mod cache_outcome;
mod cacheability;
mod conditional;
mod control;
mod coverage;
mod directives;
mod encoding;
mod eviction;
mod extension;
mod fragment;
mod freshness;
mod hash;
pub mod head;
pub mod internal_headers;
pub mod invalidation;
mod key;
mod max_forwards;
pub mod path;
mod personal;
pub mod purge;
pub mod ranges;
mod request_directives;
mod resume;
mod reuse;
mod status;
mod time;
pub mod update;
mod vary;

pub use self::{
    cache_outcome::CacheOutcome,
    cacheability::{NotStored, is_never_stored, may_store},
    conditional::{DateMatch, Validators, is_not_modified, is_solicited, make_unconditional},
    control::Control,
    coverage::{Coverage, Gap, Supply},
    encoding::{Coding, Form, is_coded, names_coding},
    eviction::Eviction,
    extension::fits_extension,
    fragment::{Fragment, is_same_representation, representation_fields},
    freshness::{Lifetime, Terms, rule_lifetime},
    hash::U64Hasher,
    key::{Key, KeyRule, overrides_request},
    max_forwards::MaxForwards,
    personal::{SetCookie, take_personal},
    request_directives::RequestDirectives,
    resume::MissingRange,
    reuse::{Reuse, Stored},
    status::{CacheStatus, Forward},
    time::Time,
    vary::VaryKey,
};
