//! CSV files: decodes to a consistent series or an error.
//!
//! `cargo +nightly fuzz run recording_csv corpus/recording_csv seeds/recording_csv`

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use recording::{Metric, Values, Wanted, decode_series};

fuzz_target!(|bytes: &[u8]| {
    for metric in [None, Some(Metric::Latency), Some(Metric::Wait)] {
        let wanted = Wanted { metric, by: Some("city".to_owned()), ..Wanted::default() };
        let Ok(series) = decode_series(bytes, Path::new("fuzz.csv"), &wanted) else { continue };
        assert!(series.values.count() > 0);
        assert_eq!(series.read, series.values.count() + series.failed + series.without_metric);
        assert!(metric.is_none_or(|metric| metric == series.metric));
        let Values::Exact(values) = &series.values else { continue };
        assert!(values.iter().all(|value| value.is_finite() && *value >= 0.0));
        assert!(series.started_s.is_none_or(|times| times.len() == values.len()));
        assert!(series.pages.is_none_or(|pages| pages.len() == values.len()));
        assert!(series.groups.is_none_or(|groups| groups.of.len() == values.len()));
        assert!(series.phases.is_none_or(|phases| phases.iter().all(|phase| phase.len() == values.len())));
    }
});
