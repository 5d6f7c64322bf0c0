//! HdrHistogram percentile tables: decodes the bytes after the header row to a consistent series or an
//! error.
//!
//! `cargo +nightly fuzz run recording_hgrm corpus/recording_hgrm seeds/recording_hgrm`

#![no_main]

use std::{io::Read, path::Path};

use libfuzzer_sys::fuzz_target;
use recording::{Format, Values, Wanted, decode_series};

fuzz_target!(|bytes: &[u8]| {
    let text = b"Value Percentile TotalCount 1/(1-Percentile)\n".chain(bytes);
    let Ok(series) = decode_series(text, Path::new("fuzz.hgrm"), &Wanted::default()) else { return };
    if series.format != Format::Hgrm {
        return;
    }
    let Values::Counted { buckets, relative_error } = series.values else { panic!("a table has counts") };
    assert!(!buckets.is_empty() && (0.0..1.0).contains(&relative_error));
    assert!(
        buckets
            .iter()
            .all(|bucket| bucket.count > 0 && bucket.value_ms.is_finite() && bucket.value_ms >= 0.0)
    );
    assert_eq!(series.read, buckets.iter().map(|bucket| bucket.count).sum::<u64>());
});
