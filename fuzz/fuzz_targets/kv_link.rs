//! Any fields and body of a request or a response about keys over a link say something, or they do not; what they say is the same when it is
//! written and read again.
//!
//! `cargo +nightly fuzz run kv_link corpus/kv_link seeds/kv_link`

#![no_main]

use http::{HeaderMap, HeaderName, HeaderValue};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
    let mut headers = HeaderMap::new();
    for line in head.lines().take(http::limits::HEADERS) {
        let Some((name, value)) = line.split_once(": ") else { continue };
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse::<HeaderValue>()) {
            headers.append(name, value);
        }
    }
    assert_ne!(values::is_read_as_written(&headers, body.as_bytes()), Some(false));
});
