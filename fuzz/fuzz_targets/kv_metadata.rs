//! Metadata of keys: accepted JSON is bounded and fits into one header line.
//!
//! `cargo +nightly fuzz run kv_metadata corpus/kv_metadata seeds/kv_metadata`

#![no_main]

use kv::{MOST_METADATA_BYTES, Metadata};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(metadata) = Metadata::new(bytes) {
        let text = metadata.as_str();
        assert!(text.len() <= MOST_METADATA_BYTES && !text.bytes().any(|byte| byte < b' '));
        assert_eq!(Metadata::new(text.as_bytes()), Ok(metadata.clone()));
    }
});
