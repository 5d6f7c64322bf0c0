//! HTTP/1.1 and HTTP/2 responses: the client ends with a response or a failure for any split of the
//! input.
//!
//! `cargo +nightly fuzz run response corpus/response seeds/response`

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::a_response_ends(bytes));
