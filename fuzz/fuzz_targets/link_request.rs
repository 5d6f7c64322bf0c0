//! Tier fields of requests between data centres: parsed fields survive a round trip of encoding and
//! decoding.
//!
//! `cargo +nightly fuzz run link_request corpus/link_request seeds/link_request`

#![no_main]

use http_stack::{HeaderMap, HeaderName, HeaderValue};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut headers = HeaderMap::new();
    for line in text.lines().take(http_stack::limits::HEADERS) {
        let Some((name, value)) = line.split_once(": ") else { continue };
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse::<HeaderValue>()) {
            headers.append(name, value);
        }
    }
    assert_ne!(edge::forwarded_request_round_trips(&headers), Some(false));
    // The version is part of this field; without it, nothing is parsed.
    headers.remove("lh-tier-path");
    assert_eq!(edge::forwarded_request_round_trips(&headers), None);
});
