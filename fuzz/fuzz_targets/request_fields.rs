//! HTTP/3 field sections of requests: accepted sections are also valid HTTP/1.1 requests.
//!
//! `cargo +nightly fuzz run request_fields corpus/request_fields seeds/request_fields`

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::accepted_sections_are_requests_in_lines(bytes));
