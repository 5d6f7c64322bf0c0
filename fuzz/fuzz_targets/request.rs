//! HTTP/1.1 requests: the parser has the same result for any split of the input.
//!
//! `cargo +nightly fuzz run request corpus/request seeds/request`

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::requests_are_the_same_in_any_pieces(bytes));
