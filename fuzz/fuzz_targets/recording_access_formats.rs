//! Access logs without a format string: decodes to a consistent series or an error.
//!
//! `cargo +nightly fuzz run recording_access_formats corpus/recording_access_formats
//! seeds/recording_access_formats`

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::a_series_keeps_its_promises(bytes));
