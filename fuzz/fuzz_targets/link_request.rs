//! Any fields of a request over a link say how it came, or they do not; what they say is the same when it is written and read again.
//!
//! `cargo +nightly fuzz run link_request corpus/link_request seeds/link_request`

#![no_main]

use http::{HeaderMap, HeaderName, HeaderValue};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut headers = HeaderMap::new();
    for line in text.lines().take(http::limits::HEADERS) {
        let Some((name, value)) = line.split_once(": ") else { continue };
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse::<HeaderValue>()) {
            headers.append(name, value);
        }
    }
    assert_ne!(edge::is_read_as_written(&headers), Some(false));
    // Without its version, which is the first word of it, nothing is read.
    headers.remove("lh-tier-path");
    assert_eq!(edge::is_read_as_written(&headers), None);
});
