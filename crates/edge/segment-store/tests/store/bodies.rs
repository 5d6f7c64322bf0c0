//! Test objects whose body is derived from the key and the length.

use std::{ops::RangeBounds, time::Duration};

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use segment_store::{Config, Found, Id, Store};

pub type Random = Xoshiro256PlusPlus;

/// Retries immediately after a failure.
pub fn config(folder: &tempfile::TempDir, capacity: u64) -> Config {
    Config { pause: Duration::ZERO, ..Config::new(folder.path(), capacity) }
}

pub fn random(seed: u64) -> Random {
    Random::seed_from_u64(seed)
}

/// A random number below the limit.
pub fn below(random: &mut Random, limit: u64) -> u64 {
    random.next_u64() % limit
}

pub fn body(key: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    random(key << 32 | length as u64).fill_bytes(&mut bytes);
    bytes
}

pub fn put(store: &Store, key: u64, length: usize) -> Id {
    let mut writer = store.begin(&key.to_le_bytes(), b"head").unwrap();
    for piece in body(key, length).chunks(10_000) {
        writer.write(piece).unwrap();
    }
    writer.finish().unwrap()
}

pub fn find_one(store: &Store, key: u64) -> Option<Found> {
    store.find(&key.to_le_bytes()).unwrap().into_iter().next()
}

pub fn read(store: &Store, found: &Found, range: impl RangeBounds<u64>) -> Vec<u8> {
    store.read(found, range).flat_map(|piece| piece.unwrap().to_vec()).collect()
}
