//! A key-value store whose values have copies in many places: what is a key, which of two values is newer, which copy may be the answer.
//!
//! | to see | look into |
//! | --- | --- |
//! | what a key may be, in a URL and as bytes | [`Key`], [`KeyError`] |
//! | which of two values counts: hybrid logical clocks, ties by the store's name | [`Version`], [`Clock`] |
//! | what is known of a key: a value with its expiration and metadata, or that it was deleted | [`Record`], [`About`] |
//! | the same as named fields, for a store of messages | `fields.rs` |
//! | how long a value is there, and how long it is remembered that it is not | [`Expiration`], [`Sweep`] |
//! | JSON beside a value | [`Metadata`] |
//! | whether a copy may be the answer, and when it is asked for again | [`Copy`], [`Terms`], [`Wanted`], [`Use`] |
//! | pages of keys, and where the next one begins | [`Cursor`], [`Page`] |
//! | in which data centres a key has copies, and who is told of a write | [`Places`], [`Tier`] |
//! | two stores that are read at once, and what has to be repaired then | [`Race`] |
//! | one of two stores that is asked, and when the other one is too | [`Hedge`], [`Usual`] |
//! | what a store makes of a write with a version of its own, and of what the other store gives it | [`Given`] |
//! | whether there are two stores, and in which keys they differ | [`Company`], [`digest`], [`differences`], [`Span`] |
//! | how stale a read was, and which acknowledged writes are lost | [`History`] |
//! | whether a history of reads and writes keeps what is promised | [`audit::audit`] |
//!
//! Nothing here has a clock or a socket. Two kinds of time come from the caller: milliseconds since 1970 for what travels between machines
//! ([`Millis`]), and for ages the time since any beginning, which does not run backwards.

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

/// The time of day, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(pub u64);

impl Millis {
    /// Whole seconds, rounded down.
    pub fn seconds(self) -> u64 {
        self.0 / 1000
    }
}

/// Bytes of the largest value: 25 MiB.
pub const MOST_VALUE_BYTES: u64 = 25 << 20;
