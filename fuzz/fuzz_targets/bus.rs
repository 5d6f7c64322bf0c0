//! Purges on the bus of a network: parsed entries survive a round trip of encoding and decoding. The
//! first line is the subject part.
//!
//! `cargo +nightly fuzz run bus corpus/bus seeds/bus`

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let place = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let (part, text) = bytes.split_at(place);
    let part = String::from_utf8_lossy(part);
    assert_ne!(edge::nats_record_round_trips(&part, text.get(1..).unwrap_or_default()), Some(false));
});
