//! Any bytes are a series or an error, and a series keeps its promises.
//!
//! `cargo +nightly fuzz run recording_csv corpus/recording_csv seeds/recording_csv`

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use recording::{Metric, decode_series};

fuzz_target!(|bytes: &[u8]| {
    for metric in [None, Some(Metric::Latency), Some(Metric::Wait)] {
        let Ok(series) = decode_series(bytes, Path::new("fuzz.csv"), metric) else { continue };
        assert!(!series.values_ms.is_empty());
        assert!(series.values_ms.iter().all(|value| value.is_finite() && *value >= 0.0));
        assert_eq!(series.read, series.values_ms.len() as u64 + series.failed + series.without_metric);
        assert!(series.started_s.is_none_or(|times| times.len() == series.values_ms.len()));
        assert!(metric.is_none_or(|metric| metric == series.metric));
    }
});
