//! Worlds: parsed worlds have a layout, and errors have a position in the text.
//!
//! `cargo +nightly fuzz run world corpus/world seeds/world`

#![no_main]

use libfuzzer_sys::fuzz_target;
use world::{Document, World};

fuzz_target!(|text: &str| {
    match World::read(&Document::new("fuzz.toml", text)) {
        Ok((world, layout)) => {
            let again = World::read(&Document::new("again.toml", world.to_toml()));
            assert_eq!(again.map(|(_, layout)| layout.hosts.len()).ok(), Some(layout.hosts.len()));
            for host in 0..layout.hosts.len().min(8) {
                layout.rtt(0, host);
            }
        }
        Err(mistake) => assert!(mistake.line >= 1 && mistake.line <= text.lines().count() + 1),
    }
});
