//! Stored speed test results, list rows and networks: decoded values survive a round trip of encoding
//! and decoding.
//!
//! `cargo +nightly fuzz run speed_kept corpus/speed_kept seeds/speed_kept`

#![no_main]

use libfuzzer_sys::fuzz_target;
use speedtest::{
    kept::{Network, Row},
    result::Outcome,
};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(outcome) = Outcome::reported(bytes) {
        let again = serde_json::to_vec(&outcome).expect("a result is always JSON");
        let again = Outcome::reported(&again).expect("it was one");
        assert_eq!((again.url, again.latency.samples.len()), (outcome.url, outcome.latency.samples.len()));
    }
    if let Some(row) = Row::decode(bytes) {
        assert!(!row.kept().is_empty());
        assert_eq!(Row::decode(&row.encode()).map(|row| row.kept_s), Some(row.kept_s));
    }
    if let Ok(network) = String::from_utf8_lossy(bytes).parse::<Network>() {
        assert_eq!(network.to_string().as_bytes(), bytes);
    }
});
