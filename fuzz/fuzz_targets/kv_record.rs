//! Any bytes are what a store knows of a key, or damaged; a record is the same when it is written and read again.
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
