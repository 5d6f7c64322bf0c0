//! Native recordings: decoded samples survive a round trip of encoding and decoding.
//!
//! `cargo +nightly fuzz run recording_native corpus/recording_native seeds/recording_native`

#![no_main]

use libfuzzer_sys::fuzz_target;
use recording::{End, Reader, Sample, Writer};

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut reader) = Reader::new(bytes, "fuzz") else { return };
    let samples: Vec<Sample> = reader.by_ref().map_while(Result::ok).collect();
    let mut writer = Writer::new(Vec::new(), reader.header()).expect("a header that was read fits a line");
    for sample in &samples {
        // Escapes may make a line longer than the line that was read.
        if writer.write(sample).is_err() {
            return;
        }
    }
    let written = writer.finish(&End::default()).expect("a vector takes all");
    let again = Reader::new(written.as_slice(), "fuzz").expect("what was written is a recording");
    assert!(samples.into_iter().eq(again.map(|sample| sample.expect("what was written can be read"))));
});
