//! Lines of a key-value export: parsed lines survive a round trip of encoding and decoding.
//!
//! `cargo +nightly fuzz run kv_line corpus/kv_line seeds/kv_line`

#![no_main]

use libfuzzer_sys::fuzz_target;
use kv_server::ExportLine;

fuzz_target!(|text: &str| {
    if let Ok(line) = ExportLine::read(text) {
        let again = serde_json::to_string(&line).expect("a line is always JSON");
        assert_eq!(ExportLine::read(&again).expect("it was one"), line);
    }
});
