//! Measurements from other data centres: parsed values are bounded and survive a round trip of encoding
//! and decoding.
//!
//! `cargo +nightly fuzz run link_told corpus/link_told seeds/link_told`

#![no_main]

use edge::HeartbeatReply;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Some(told) = HeartbeatReply::read(bytes) {
        assert!(told.origins.len() <= 1000);
        let text = serde_json::to_vec(&told).expect("numbers and strings are always JSON");
        assert_eq!(HeartbeatReply::read(&text), Some(told));
    }
});
