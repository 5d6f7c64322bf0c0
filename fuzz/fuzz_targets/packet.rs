//! Any bytes that a program writes into its device are a frame or are refused, and every slice of a frame has its length.
//!
//! `cargo +nightly fuzz run packet corpus/packet seeds/packet`

#![no_main]

use libfuzzer_sys::fuzz_target;
use planet::wire::Frame;

fuzz_target!(|bytes: &[u8]| {
    let Ok(frame) = Frame::parse(bytes) else { return };
    let segments = frame.packet.segments();
    let mut payload = 0;
    // The kernel makes super-packets of 45 segments or so; a hostile program can claim one byte for each.
    for segment in 0..segments.min(256) {
        let (headers, part) = frame.slice(bytes, &(segment..segment + 1));
        assert!(headers.len() + part.len() <= bytes.len());
        payload += part.len();
    }
    assert!(payload <= bytes.len());
});
