//! JMeter results: decodes to a consistent series or an error.
//!
//! `cargo +nightly fuzz run recording_jmeter corpus/recording_jmeter seeds/recording_jmeter`

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::a_series_keeps_its_promises(bytes));
