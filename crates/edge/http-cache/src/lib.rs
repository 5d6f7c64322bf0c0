//! The decision logic of an HTTP cache: pure functions of request headers, stored responses and the
//! time.
//!
//! Start with [`Key`], [`may_store`], [`Terms`], [`VaryKey`] and [`Stored::reuse`]. The crate has
//! no clock, no sockets and no bodies.

mod cache_control;
mod cache_deception;
mod cache_outcome;
mod cacheability;
mod conditional;
mod coverage;
mod directives;
mod encoding;
mod eviction;
mod fragment;
mod freshness;
mod hash;
pub mod head;
mod headers;
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
    cache_control::Control,
    cache_deception::fits_extension,
    cache_outcome::CacheOutcome,
    cacheability::{NotStored, is_never_stored, may_store},
    conditional::{DateMatch, Validators, is_not_modified, is_solicited, make_unconditional},
    coverage::{Coverage, Gap, Supply},
    encoding::{Coding, Form, is_coded, names_coding},
    eviction::Eviction,
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
pub use headers::{hop_by_hop, internal_headers};
