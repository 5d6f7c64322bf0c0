//! What is counted, and what the operator is told of a store.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::refused::RefusedStream;

/// A store at this moment, as one data centre has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    /// Keys that were read since the start, each of several that were read at once.
    pub reads: u64,
    /// Those of them that a copy in memory answered.
    pub hits: u64,
    /// Those that another data centre answered, by where the answer comes from; absent where there are no others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_others: Option<FromOthers>,
    /// Keys that were written or deleted.
    pub writes: u64,
    /// Pages that were listed.
    pub lists: u64,
    /// Requests that were refused or failed.
    pub refused: u64,
    /// Keys whose values were removed as they were over.
    pub expired: u64,
    /// Keys that have a value, in all namespaces; absent where the store is in another data centre, as the next two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<u64>,
    /// Bytes of those values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Bytes of the store's file; absent where it is in NATS, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_bytes: Option<u64>,
    /// Damage to the store's file; absent where it is in NATS, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integrity: Option<Integrity>,
    /// Bytes of copies in memory.
    pub memory_bytes: u64,
    /// Copies on disk, if there is a directory for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<OnDisk>,
    /// What there is of a second store of the same values, if there is one; in each of the two data centres with a store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<Pair>,
    /// What other data centres have to do with it, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<InNetwork>,
    /// Its stream of NATS, if that is refused because it lacks acknowledged messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_stream: Option<RefusedStream>,
    /// Why it does not answer; absent while it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Damage to a store's file, found by reads and by the scrub, which reads all of it again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Integrity {
    /// Blocks of 4 KiB that do not match their checksums, and were not written since.
    pub damaged_blocks: u64,
    /// Keys that the scrub could not read, in this pass or in the last.
    pub damaged_keys: u64,
    /// Passes of the scrub that are complete.
    pub scrubs: u64,
    /// Bytes of values that the scrub has read.
    pub scrubbed_bytes: u64,
}

/// Copies of values on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OnDisk {
    /// How many.
    pub values: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// Why nothing is stored there; absent while all is well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Reads that other data centres answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FromOthers {
    /// From copies in the keys' regional tiers.
    pub regional: u64,
    /// From copies in the keys' upper tiers.
    pub upper: u64,
    /// From the store.
    pub store: u64,
}

/// What a data centre's store and copies have to do with the other data centres.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InNetwork {
    /// The data centre with the store; of two the one that is asked first.
    pub store: String,
    /// Copies that were asked for again before they were too old.
    pub refreshes: u64,
    /// Questions to others whose answer was that what is here is the newest, so that no value was sent.
    #[serde(default)]
    pub unchanged: u64,
    /// Reads that an old copy answered, as nobody else did in time.
    pub stood_in: u64,
    /// Writes and lists that went to the store's data centre.
    pub passed_on: u64,
    /// Requests of other data centres.
    pub asked_by_others: u64,
    /// What other data centres told of: keys that were written.
    pub heard: u64,
    /// Places that were to be told of keys that were written here: for each key the sum of its places.
    pub to_tell: u64,
    /// Those that were told, each key once in each message.
    pub told: u64,
    /// In so many messages.
    pub messages: u64,
    /// Those that were not, until no copy could be old any more.
    pub untold: u64,
    /// Requests for which another data centre was asked too, as the first one took longer than usual; only where there are two stores.
    #[serde(default)]
    pub asked_both: u64,
}

/// One of two stores of the same values, and how it gets on with the other one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pair {
    /// The data centre with the other store.
    pub other: String,
    /// Whether that one answers, as far as is known.
    pub is_reachable: bool,
    /// Keys that are written here and that it may not have yet.
    pub behind: u64,
    /// Whether this store may lack keys that the other one has had for long, as its file is new.
    pub is_filling: bool,
    /// Keys that the other one took from here.
    pub given: u64,
    /// Keys that this one took from there.
    pub taken: u64,
    /// Those of them that came later than two seconds after they were written: as one of the two had been gone, or was found to lack them.
    pub repaired: u64,
    /// How often all that both know was compared.
    pub compared: u64,
    /// Keys of which they were found to know different things, by reads and by comparisons.
    pub differed: u64,
}

/// What is counted.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) reads: Count,
    pub(crate) hits: Count,
    pub(crate) writes: Count,
    pub(crate) lists: Count,
    pub(crate) refused: Count,
    pub(crate) expired: Count,
    pub(crate) from_regional: Count,
    pub(crate) from_upper: Count,
    pub(crate) from_store: Count,
    pub(crate) refreshes: Count,
    pub(crate) unchanged: Count,
    pub(crate) stood_in: Count,
    pub(crate) passed_on: Count,
    pub(crate) of_others: Count,
    pub(crate) heard: Count,
    pub(crate) to_tell: Count,
    pub(crate) told: Count,
    pub(crate) messages: Count,
    pub(crate) untold: Count,
    pub(crate) given: Count,
    pub(crate) taken: Count,
    pub(crate) repaired: Count,
    pub(crate) compared: Count,
    pub(crate) differed: Count,
    pub(crate) asked_both: Count,
    pub(crate) scrubs: Count,
    pub(crate) scrubbed_bytes: Count,
    /// Keys that are damaged now, unlike the others.
    pub(crate) damaged_keys: AtomicU64,
}

/// A number that only grows.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn add(&self, number: usize) {
        self.0.fetch_add(number as u64, Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}
