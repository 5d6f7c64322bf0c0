//! Object records, footers and removals: decoded values encode to the same bytes.
//!
//! `cargo +nightly fuzz run object corpus/object seeds/object`

#![no_main]

use segment_store::format::{BLOCK, Entry, Object, decode_removal, encode_removal};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Some(object) = Object::decode(bytes) {
        assert_eq!(object.encode(), bytes);
        assert_eq!(object.blocks.len() as u64, object.length.div_ceil(BLOCK as u64));
    }
    if let Some(entries) = Entry::decode_all(bytes) {
        let mut footer = Vec::new();
        entries.iter().for_each(|entry| entry.encode(&mut footer));
        assert_eq!(footer, bytes);
    }
    if let Some((first, last)) = decode_removal(bytes) {
        assert_eq!(encode_removal(first, last), bytes);
    }
});
