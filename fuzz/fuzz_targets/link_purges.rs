//! Any bytes are what another data centre tells of purges, or they are not; what is read is the same when it is written and read again.
//!
//! `cargo +nightly fuzz run link_purges corpus/link_purges seeds/link_purges`

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    assert_ne!(edge::is_message_read_as_written(bytes), Some(false));
});
