//! RTT matrices: parsed values are plausible, and errors have a position in the text.
//!
//! `cargo +nightly fuzz run matrix corpus/matrix seeds/matrix`

#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use world::{
    Document,
    matrix::{KnownCities, Matrix},
};

fuzz_target!(|text: &str| {
    match Matrix::parse(&Document::new("fuzz.csv", text), &KnownCities::default()) {
        Ok(matrix) => {
            for ((a, b), rtt) in &matrix.pairs {
                assert!(a < b && *rtt > Duration::ZERO && *rtt <= Duration::from_secs(60));
            }
        }
        Err(mistake) => assert!(mistake.line >= 1 && mistake.line <= text.lines().count() + 1),
    }
});
