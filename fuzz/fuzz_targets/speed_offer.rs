//! WebRTC offers of a data channel: parsed, or rejected with a message.
//!
//! `cargo +nightly fuzz run speed_offer corpus/speed_offer seeds/speed_offer`

#![no_main]

use libfuzzer_sys::fuzz_target;
use speedtest::serve::offer::{MOST, Offer};

fuzz_target!(|bytes: &[u8]| match Offer::read(bytes) {
    Ok(_) => assert!(bytes.len() <= MOST),
    Err(why) => assert!(!why.to_string().is_empty()),
});
