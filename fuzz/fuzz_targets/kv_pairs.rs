//! Bulk writes and key lists: parsed pairs are within the limits.
//!
//! `cargo +nightly fuzz run kv_pairs corpus/kv_pairs seeds/kv_pairs`

#![no_main]

use kv::{MOST_KEY_BYTES, Millis};
use libfuzzer_sys::fuzz_target;
use kv_server::bulk;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(puts) = bulk::read(bytes, 1000, Millis(1_000_000)) {
        for put in puts {
            assert!((1..=MOST_KEY_BYTES).contains(&put.key.len()) && put.value.len() <= 1000);
            assert!(put.expiration.is_none_or(|at| at.0 >= 1060));
        }
    }
    let _ = bulk::read_keys(bytes);
});
