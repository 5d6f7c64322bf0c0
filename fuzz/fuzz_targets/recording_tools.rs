//! Output of load generators, ping programs and monitoring systems: decodes to a consistent series or an
//! error.
//!
//! `cargo +nightly fuzz run recording_tools corpus/recording_tools seeds/recording_tools`

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::a_series_keeps_its_promises(bytes));
