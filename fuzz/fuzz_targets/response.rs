//! Any bytes of a server are a response or a failure in HTTP/1.1 and in HTTP/2; the request ends with them, in any pieces.
//!
//! `cargo +nightly fuzz run response corpus/response seeds/response`

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::a_response_ends(bytes));
