//! `traceparent` fields: parsed contexts survive a round trip, except for version and flags.
//!
//! `cargo +nightly fuzz run traceparent corpus/traceparent seeds/traceparent`

#![no_main]

use libfuzzer_sys::fuzz_target;
use otlp::Context;

fuzz_target!(|bytes: &[u8]| {
    if let Some(context) = Context::parse(bytes) {
        let written = context.to_string();
        assert_eq!(&written.as_bytes()[3..53], &bytes[3..53]);
        assert_eq!(Context::parse(written.as_bytes()), Some(context));
    }
});
