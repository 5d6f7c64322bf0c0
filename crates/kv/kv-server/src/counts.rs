//! Counters, and the status of a store for the operator.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::refused_stream::RefusedStream;

/// The status of a store in one data centre.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    /// Keys that were read since the start, including each key of a bulk read.
    pub reads: u64,
    /// Reads that were served from memory.
    pub hits: u64,
    /// Reads that were served by other data centres, by source; absent in a network with one data centre.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_others: Option<FromOthers>,
    /// Keys that were written or deleted.
    pub writes: u64,
    /// Pages of keys that were listed.
    pub lists: u64,
    /// Requests that were refused or failed.
    pub refused: u64,
    /// Keys that were removed because they had expired.
    pub expired: u64,
    /// Keys that have a value, in all namespaces; absent if the store is in another data centre, as are the
    /// next two fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<u64>,
    /// Bytes of those values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Bytes of the store's file; also absent if the store is in NATS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_bytes: Option<u64>,
    /// Damage to the store's file; also absent if the store is in NATS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integrity: Option<Integrity>,
    /// Bytes of copies in memory.
    pub memory_bytes: u64,
    /// Copies on disk, if a directory is configured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<OnDisk>,
    /// The replication state, if there are two stores; present in both data centres with a store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<Pair>,
    /// Traffic with other data centres, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<InNetwork>,
    /// The store's NATS stream, if it is refused because it lacks acknowledged messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_stream: Option<RefusedStream>,
    /// Why the store is unavailable; absent while it is available.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Damage to a store's file, found by reads and by the periodic scrub of the whole file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Integrity {
    /// Blocks of 4 KiB that do not match their checksums and were not written since.
    pub damaged_blocks: u64,
    /// Keys that the scrub could not read in this pass or in the last one.
    pub damaged_keys: u64,
    /// Completed passes of the scrub.
    pub scrubs: u64,
    /// Bytes of values that the scrub has read.
    pub scrubbed_bytes: u64,
}

/// Copies of values on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OnDisk {
    /// Number of values.
    pub values: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// Why values cannot be stored on disk; absent while they can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Reads that were served by other data centres, by source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FromOthers {
    /// Copies in regional tiers.
    pub regional: u64,
    /// Copies in upper tiers.
    pub upper: u64,
    /// The store.
    pub store: u64,
}

/// Traffic with other data centres.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InNetwork {
    /// The data centre with the store; of two, the preferred one.
    pub store: String,
    /// Copies that were refreshed before they expired.
    pub refreshes: u64,
    /// Requests to other data centres that returned no value, because the copy here is the
    /// newest.
    #[serde(default)]
    pub unchanged: u64,
    /// Reads that were served from an expired copy, because no other data centre responded in time.
    pub stood_in: u64,
    /// Writes and lists that were forwarded to the store's data centre.
    pub passed_on: u64,
    /// Requests received from other data centres.
    pub asked_by_others: u64,
    /// Keys that other data centres have reported as written.
    pub heard: u64,
    /// Notifications due for keys that were written here: the sum of the notified data centres over all keys.
    pub to_tell: u64,
    /// Notifications that were delivered; several writes of a key in one message count once.
    pub told: u64,
    /// Messages that contained them.
    pub messages: u64,
    /// Notifications that were abandoned after all copies from before the write had expired.
    pub untold: u64,
    /// Requests that were also sent to another data centre, because the first one took longer than usual; only
    /// with two stores.
    #[serde(default)]
    pub asked_both: u64,
}

/// One of two stores of the same values, and its replication state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pair {
    /// The data centre with the other store.
    pub other: String,
    /// Whether the other store is known to respond.
    pub is_reachable: bool,
    /// Keys that were written here and that the other store may not have yet.
    pub behind: u64,
    /// Whether this store may lack old keys of the other store, because its file is new.
    pub is_filling: bool,
    /// Keys that were copied from here to the other store.
    pub given: u64,
    /// Keys that were copied from the other store to here.
    pub taken: u64,
    /// Copied keys that arrived more than two seconds after the write, because a store was unreachable or was
    /// found to lack them.
    pub repaired: u64,
    /// Completed comparisons of the two stores.
    pub compared: u64,
    /// Keys that differed between the two stores, found by reads and by comparisons.
    pub differed: u64,
}

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
    /// A gauge: keys that are damaged now.
    pub(crate) damaged_keys: AtomicU64,
}

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
