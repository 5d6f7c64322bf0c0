//! Caddy access logs: decodes to a consistent series or an error.
//!
//! `cargo +nightly fuzz run recording_caddy corpus/recording_caddy seeds/recording_caddy`

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::a_series_keeps_its_promises(bytes));
