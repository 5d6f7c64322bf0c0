//! netem lines: parsed lines configure a link, and errors have a message.
//!
//! `cargo +nightly fuzz run netem corpus/netem seeds/netem`

#![no_main]

use libfuzzer_sys::fuzz_target;
use link::{Config, netem};

fuzz_target!(|text: &str| {
    match netem::parse(text) {
        Ok(impairment) => {
            let mut config = Config::default();
            impairment.apply(&mut config);
            assert!(impairment.delay.is_none_or(|delay| delay == config.propagation));
            assert_eq!(impairment.rate, config.rate.mean());
        }
        Err(mistake) => assert!(!mistake.to_string().is_empty()),
    }
});
