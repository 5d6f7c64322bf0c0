//! k6 output: decodes to a consistent series or an error.
//!
//! `cargo +nightly fuzz run recording_k6 corpus/recording_k6 seeds/recording_k6`

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::a_series_keeps_its_promises(bytes));
