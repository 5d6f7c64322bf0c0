//! Any bytes are a browser's offer of one data channel, or none: with a sentence that says why.
//!
//! `cargo +nightly fuzz run speed_offer corpus/speed_offer seeds/speed_offer`

#![no_main]

use libfuzzer_sys::fuzz_target;
use speed::serve::offer::{MOST, Offer};

fuzz_target!(|bytes: &[u8]| match Offer::read(bytes) {
    Ok(_) => assert!(bytes.len() <= MOST),
    Err(why) => assert!(!why.to_string().is_empty()),
});
