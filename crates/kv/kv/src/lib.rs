//! Replicated key-value store, as pure logic: keys, versions, copies and their age, tiers, and
//! anti-entropy of two stores.
//!
//! | subject | items |
//! | --- | --- |
//! | valid keys, in a URL and as bytes | [`Key`], [`KeyError`] |
//! | which of two values is newer: hybrid logical clocks, ties broken by the store's name | [`Version`], [`HybridClock`] |
//! | the record of a key: a value with expiration and metadata, or a tombstone | [`Record`], [`ValueMeta`] |
//! | a record as named header fields, for a store of messages | `record_headers.rs` |
//! | expiration of values, and how long tombstones are kept | [`Expiration`], [`Sweep`] |
//! | JSON metadata of a value | [`Metadata`] |
//! | whether a copy may be served, and when it is refreshed | [`Copy`], [`FreshnessPolicy`], [`ReadOptions`], [`CopyUse`] |
//! | pages of a list of keys, and their cursors | [`Cursor`], [`Page`] |
//! | which data centres hold copies of a key, and which are notified of a write | [`Placement`], [`Tier`] |
//! | reading two stores concurrently, and read repair | [`DualRead`] |
//! | hedged requests to one of two stores | [`Hedge`], [`LatencyEstimate`] |
//! | how a store handles a record that already has a version | [`Given`] |
//! | anti-entropy between two stores | [`Pairing`], [`digest`], [`differences`], [`Span`] |
//! | staleness of reads, and lost acknowledged writes | [`History`] |
//! | checking a history of reads and writes against the guarantees | [`audit::audit`] |
//!
//! This crate has no clock and no sockets. Callers pass wall-clock milliseconds since 1970
//! ([`Millis`]), and monotonic time since an arbitrary start for ages.

pub mod consistency_checker;
mod cursor;
mod dual_read;
mod expiration;
mod freshness;
mod hedge;
mod key;
mod metadata;
mod page;
mod placement;
mod range_digest;
mod record;
mod record_headers;
mod staleness;
mod version;

pub use self::{
    cursor::{Cursor, CursorError},
    dual_read::{Answer, DualRead, Repair, Side, StoreReply, Verdict},
    expiration::{Expiration, ExpirationError, LEAST_TTL},
    freshness::{CopyAge, CopyUse, FreshnessPolicy, ReadOptions},
    hedge::{Hedge, LatencyEstimate, Next},
    key::{Key, KeyError, MOST_KEY_BYTES, decoded},
    metadata::{MOST_METADATA_BYTES, Metadata, MetadataError},
    page::{Listed, ListedKey, MOST_KEYS, Page, PageError},
    placement::{Placement, Tier},
    range_digest::{Differences, KeyVersion, Pairing, Span, differences, digest},
    record::{ApplyOutcome, Content, CorruptRecord, Record, Sweep, TOMBSTONE, ValueMeta},
    staleness::History,
    version::{HybridClock, ParseVersionError, StoreName, Version},
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
