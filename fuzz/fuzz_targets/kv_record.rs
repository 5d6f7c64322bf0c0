//! Key records: decoded records survive a round trip of encoding and decoding.
//!
//! `cargo +nightly fuzz run kv_record corpus/kv_record seeds/kv_record`

#![no_main]

use kv::Record;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(record) = Record::decode(bytes) {
        assert_eq!(Record::decode(&record.encode()), Ok(record));
    }
});
