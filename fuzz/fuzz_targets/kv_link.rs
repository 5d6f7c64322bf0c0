//! Key-value messages between data centres: parsed messages survive a round trip of encoding and
//! decoding.
//!
//! The input is header lines, an empty line, and a body.
//!
//! `cargo +nightly fuzz run kv_link corpus/kv_link seeds/kv_link`

#![no_main]

use http_stack::{HeaderMap, HeaderName, HeaderValue};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
    let mut headers = HeaderMap::new();
    for line in head.lines().take(http_stack::limits::HEADERS) {
        let Some((name, value)) = line.split_once(": ") else { continue };
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse::<HeaderValue>()) {
            headers.append(name, value);
        }
    }
    assert_ne!(kv_server::is_read_as_written(&headers, body.as_bytes()), Some(false));
});
