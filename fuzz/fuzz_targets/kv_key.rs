//! Keys in paths: a parsed key has a valid length and can be encoded in a path again.
//!
//! `cargo +nightly fuzz run kv_key corpus/kv_key seeds/kv_key`

#![no_main]

use kv::{Key, MOST_KEY_BYTES};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(key) = Key::from_path(text) {
        let name = key.as_str();
        assert!((1..=MOST_KEY_BYTES).contains(&name.len()) && name != "." && name != "..");
        let path: String = name.bytes().map(|byte| format!("%{byte:02x}")).collect();
        assert_eq!(Key::from_path(&path), Ok(key));
    }
});
