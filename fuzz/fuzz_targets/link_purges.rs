//! Purge messages between data centres: parsed messages survive a round trip of encoding and decoding.
//!
//! `cargo +nightly fuzz run link_purges corpus/link_purges seeds/link_purges`

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    assert_ne!(edge::sync_message_round_trips(bytes), Some(false));
});
