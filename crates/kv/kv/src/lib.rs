//! Replicated key-value store, as pure logic: keys, versions, copies and their age, tiers, and anti-entropy
//! of two stores.
//!
//! | subject | items |
//! | --- | --- |
//! | valid keys, in a URL and as bytes | [`Key`], [`KeyError`] |
//! | which of two values is newer: hybrid logical clocks, ties broken by the store's name | [`Version`], [`Clock`] |
//! | the record of a key: a value with expiration and metadata, or a tombstone | [`Record`], [`About`] |
//! | a record as named header fields, for a store of messages | `fields.rs` |
//! | expiration of values, and how long tombstones are kept | [`Expiration`], [`Sweep`] |
//! | JSON metadata of a value | [`Metadata`] |
//! | whether a copy may be served, and when it is refreshed | [`Copy`], [`Terms`], [`Wanted`], [`Use`] |
//! | pages of a list of keys, and their cursors | [`Cursor`], [`Page`] |
//! | which data centres hold copies of a key, and which are notified of a write | [`Places`], [`Tier`] |
//! | reading two stores concurrently, and read repair | [`Race`] |
//! | hedged requests to one of two stores | [`Hedge`], [`Usual`] |
//! | how a store handles a record that already has a version | [`Given`] |
//! | anti-entropy between two stores | [`Company`], [`digest`], [`differences`], [`Span`] |
//! | staleness of reads, and lost acknowledged writes | [`History`] |
//! | checking a history of reads and writes against the guarantees | [`audit::audit`] |
//!
//! This crate has no clock and no sockets. The caller passes two kinds of time: milliseconds since 1970 for
//! timestamps that are sent between machines ([`Millis`]), and monotonic time since an arbitrary start for
//! ages.

pub mod audit;
mod compare;
mod copy;
mod cursor;
mod expiration;
mod fields;
mod hedge;
mod key;
mod metadata;
mod page;
mod places;
mod race;
mod record;
mod staleness;
mod version;

pub use self::{
    compare::{Company, Differences, Known, Span, differences, digest},
    copy::{Copy, Terms, Use, Wanted},
    cursor::{Cursor, CursorError},
    expiration::{Expiration, ExpirationError, LEAST_TTL},
    hedge::{Hedge, Next, Usual},
    key::{Key, KeyError, MOST_KEY_BYTES, decoded},
    metadata::{MOST_METADATA_BYTES, Metadata, MetadataError},
    page::{Listed, ListedKey, MOST_KEYS, Page, PageError},
    places::{Places, Tier},
    race::{Answer, Heard, Race, Repair, Side, Verdict},
    record::{About, Content, Damaged, Given, Record, Sweep, TOMBSTONE},
    staleness::History,
    version::{Clock, NoVersion, StoreName, Version},
};

/// Wall-clock time in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(pub u64);

impl Millis {
    /// Whole seconds, rounded down.
    pub fn seconds(self) -> u64 {
        self.0 / 1000
    }
}

/// The largest size of a value in bytes: 25 MiB.
pub const MOST_VALUE_BYTES: u64 = 25 << 20;
