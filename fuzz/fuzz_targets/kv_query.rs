//! Query parameters of key lists and writes: parsed values are within the limits.
//!
//! `cargo +nightly fuzz run kv_query corpus/kv_query seeds/kv_query`

#![no_main]

use kv::{Expiration, MOST_KEY_BYTES, MOST_KEYS, Millis, Page};
use libfuzzer_sys::fuzz_target;
use kv_server::Parameters;

fuzz_target!(|text: &str| {
    let Ok(parameters) = Parameters::of(Some(text)) else { return };
    let get = |name| parameters.get(name);
    if let Ok(page) = Page::asked("ns", ("key_count_limit", get("key_count_limit")), get("prefix"), get("cursor")) {
        assert!((1..=MOST_KEYS).contains(&page.limit) && page.prefix.len() <= MOST_KEY_BYTES);
    }
    if let Ok(Some(at)) = Expiration::asked(get("expiration"), get("expiration_ttl"), Millis(1_000_000)) {
        assert!(at.0 >= 1060);
    }
});
