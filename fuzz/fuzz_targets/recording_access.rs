//! Access logs with a format string: the first line is the format, the rest the log.
//!
//! `cargo +nightly fuzz run recording_access corpus/recording_access seeds/recording_access`

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use recording::{AccessLog, Counts, Error, Event, Labels, Metric, Options, Sink, decode};

struct Promises;

impl Sink for Promises {
    fn event(&mut self, event: &Event<'_>) -> Result<(), Error> {
        for metric in Metric::ALL {
            assert!(event.milliseconds(metric).is_none_or(|ms| ms.is_finite() && ms >= 0.0));
        }
        assert!(event.sample.labels.values().all(|value| !value.is_empty()));
        Ok(())
    }

    fn counts(&mut self, _: &Counts) -> Result<(), Error> {
        panic!("an access log has events")
    }
}

fuzz_target!(|bytes: &[u8]| {
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    let Ok(format) = std::str::from_utf8(&bytes[..end]) else { return };
    let Ok(log) = format.parse::<AccessLog>() else { return };
    let options = Options { access_log: Some(log), labels: Labels::All, ..Options::default() };
    let _ = decode(&bytes[(end + 1).min(bytes.len())..], Path::new("fuzz.log"), &options, &mut Promises);
});
