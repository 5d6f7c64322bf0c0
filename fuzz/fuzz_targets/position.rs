//! Positions in purge logs: parsed positions survive a round trip of formatting and parsing.
//!
//! `cargo +nightly fuzz run position corpus/position seeds/position`

#![no_main]

use libfuzzer_sys::fuzz_target;
use tier_routing::Position;

fuzz_target!(|text: &str| {
    if let Ok(position) = text.parse::<Position>() {
        assert_eq!(position.to_string().parse(), Ok(position.clone()));
        assert!(position.covers(&position));
    }
});
