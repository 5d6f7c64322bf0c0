//! Key metadata in header fields: decoded records survive a round trip of encoding and decoding.
//!
//! The input is header lines, `name: value`.
//!
//! `cargo +nightly fuzz run kv_fields corpus/kv_fields seeds/kv_fields`

#![no_main]

use kv::{Content, Record};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let of_text = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    if let Ok(record) = Record::from_fields(of_text, 7) {
        let fields = record.fields();
        let again = |name: &str| {
            fields.iter().find(|(other, _)| *other == name).map(|(_, value)| value.as_str())
        };
        let bytes = if matches!(record.content, Content::Value(_)) { 7 } else { 0 };
        assert_eq!(Record::from_fields(again, bytes), Ok(record));
    }
});
