//! Any bytes of a client are requests of HTTP/1.1 and perhaps an error, and the same ones in any pieces.
//!
//! `cargo +nightly fuzz run request corpus/request seeds/request`

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::requests_are_the_same_in_any_pieces(bytes));
