//! HdrHistogram interval logs: decodes to consistent counts or an error; the total survives re-encoding.
//!
//! `cargo +nightly fuzz run recording_hlog corpus/recording_hlog seeds/recording_hlog`

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use recording::{Counts, Error, Event, Histogram, Options, Sink, Unit, decode};

#[derive(Default)]
struct Promises {
    total: u64,
    histogram: Option<Histogram>,
}

impl Sink for Promises {
    fn event(&mut self, _: &Event<'_>) -> Result<(), Error> {
        // The input is in another format.
        Ok(())
    }

    fn counts(&mut self, counts: &Counts) -> Result<(), Error> {
        let buckets = &counts.buckets;
        assert!(buckets.iter().all(|bucket| bucket.count > 0));
        assert!(buckets.iter().all(|bucket| bucket.value_ms.is_finite() && bucket.value_ms >= 0.0));
        assert!(buckets.windows(2).all(|pair| pair[0].value_ms <= pair[1].value_ms));
        assert!((0.0..1.0).contains(&counts.relative_error));
        let histogram = self.histogram.get_or_insert_with(|| Histogram::new(3));
        for bucket in buckets {
            self.total = self.total.checked_add(bucket.count).expect("a file has at most 2^53 events");
            histogram.record_n((bucket.value_ms * 1e6) as u64, bucket.count);
        }
        Ok(())
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut promises = Promises::default();
    let options = Options { unit: Some(Unit::Ns), ..Options::default() };
    let _ = decode(bytes, Path::new("fuzz.hlog"), &options, &mut promises);
    assert_eq!(promises.histogram.map_or(0, |histogram| histogram.count()), promises.total);
});
