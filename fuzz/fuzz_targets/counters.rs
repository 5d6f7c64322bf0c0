//! Kernel counter files: parses any text; a reading has no increments relative to itself.
//!
//! `cargo +nightly fuzz run counters corpus/counters seeds/counters`

#![no_main]

use libfuzzer_sys::fuzz_target;
use tcp::counters::Reading;

fuzz_target!(|text: &str| {
    let mut reading = Reading::default();
    reading.renew(text);
    let names = reading.tcp.keys().chain(reading.mptcp.keys());
    assert!(names.into_iter().all(|name| text.contains(name.as_str())));
    let grown = reading.since(&reading);
    assert_eq!(grown.len(), reading.tcp.len());
    assert!(grown.values().all(|grown| *grown == 0));
});
