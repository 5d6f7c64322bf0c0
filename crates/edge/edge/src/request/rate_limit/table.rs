//! The buckets of all keys, in a table of fixed size.
//!
//! A key may be in one of a few slots. If all are taken, the fullest bucket is forgotten: many keys
//! cannot use more memory, and a forgotten key has at most one more burst.

use std::sync::{Mutex, PoisonError};

use super::gcra::{Bucket, Decision};

pub(super) struct BucketTable(Box<[Mutex<Box<[Slots]>>]>);

type Slots = [Slot; WAYS];

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    key: u64,
    full_at: u64,
}

impl BucketTable {
    pub(super) fn new() -> Self {
        let shard = || Mutex::new(vec![[Slot::default(); WAYS]; SETS].into());
        Self((0..SHARDS).map(|_| shard()).collect())
    }

    /// `key` is a keyed hash, so that no client can choose its slots.
    pub(super) fn take(&self, key: u64, bucket: Bucket, now: u64) -> Decision {
        let (shard, set) = (below(key, SHARDS), below(key >> 32, SETS));
        let free = bucket.take(0, now);
        let Some(shard) = self.0.get(shard) else { return free };
        let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(slots) = shard.get_mut(set) else { return free };
        let known = slots.iter().position(|slot| slot.key == key);
        let fullest = || (0..WAYS).min_by_key(|&way| slots.get(way).map(|slot| slot.full_at));
        let Some(way) = known.or_else(fullest) else { return free };
        let Some(slot) = slots.get_mut(way) else { return free };
        if slot.key != key {
            *slot = Slot { key, full_at: 0 };
        }
        let decision = bucket.take(slot.full_at, now);
        slot.full_at = decision.full_at;
        decision
    }
}

fn below(number: u64, limit: usize) -> usize {
    usize::try_from(number % limit as u64).unwrap_or_default()
}

const SHARDS: usize = 64;
const SETS: usize = 256;
/// 64 * 256 * 8 = 131 072 slots of 16 bytes: 2 MiB.
const WAYS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    const BUCKET: Bucket = Bucket { interval: 1_000_000, burst: 2 };

    #[test]
    fn keys_are_independent() {
        let table = BucketTable::new();
        for key in [1, 2, 1 << 40] {
            let allowed = [5, 5, 5].map(|now| table.take(key, BUCKET, now).is_allowed);
            assert_eq!(allowed, [true, true, false], "{key}");
        }
    }

    #[test]
    fn full_buckets_are_forgotten_first() {
        let table = BucketTable::new();
        let key = |number: u64| (number << 46) | 64;
        // One key is at its limit, the others of its set have one token left.
        table.take(key(0), BUCKET, 5);
        table.take(key(0), BUCKET, 5);
        for number in 1..1000 {
            table.take(key(number), BUCKET, 5);
        }
        assert!(!table.take(key(0), BUCKET, 5).is_allowed);
    }
}
