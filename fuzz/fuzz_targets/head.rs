//! Stored response heads: decoded heads survive a round trip of encoding and decoding.
//!
//! `cargo +nightly fuzz run head corpus/head seeds/head`

#![no_main]

use http_cache::head::{read, write};
use libfuzzer_sys::fuzz_target;

const URL: &str = "http://a/b";

fuzz_target!(|bytes: &[u8]| {
    if let Some(head) = read(bytes, URL, &[]) {
        let again = write(&head.stored, &head.subject, head.began);
        assert_eq!(read(&again, URL, &[]), Some(head));
    }
});
