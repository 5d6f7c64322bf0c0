//! Helpers for the tests of these decoders: a sink that stores everything, and randomly damaged
//! files.

use std::path::Path;

use proptest::prelude::*;

use crate::{Counts, Error, Event, Labels, Metric, Options, Sample, Sink, decode, read::Format};

#[derive(Debug, Default, PartialEq)]
pub(in crate::read) struct Kept {
    pub numbers: Vec<u64>,
    pub samples: Vec<Sample>,
    pub exact: Vec<Vec<(Metric, f64)>>,
    pub counts: Vec<Counts>,
    pub warnings: Vec<String>,
    pub metric: Option<Metric>,
    pub format: Option<Format>,
}

impl Kept {
    pub(in crate::read) fn points(&self) -> Vec<(f64, u64)> {
        self.counts[0].buckets.iter().map(|bucket| (bucket.value_ms, bucket.count)).collect()
    }
}

impl Sink for Kept {
    fn metric(&mut self, metric: Metric) {
        self.metric = Some(metric);
    }

    fn event(&mut self, event: &Event<'_>) -> Result<(), Error> {
        self.numbers.push(event.number);
        self.samples.push(event.sample.clone());
        self.exact.push(event.exact.to_vec());
        Ok(())
    }

    fn counts(&mut self, counts: &Counts) -> Result<(), Error> {
        self.counts.push(counts.clone());
        Ok(())
    }
}

/// With all labels; an error is the message.
pub(in crate::read) fn read(text: impl AsRef<[u8]>) -> Result<Kept, String> {
    read_with(text, &Options { labels: Labels::All, ..Options::default() })
}

pub(in crate::read) fn read_with(text: impl AsRef<[u8]>, options: &Options) -> Result<Kept, String> {
    let mut kept = Kept::default();
    let origin =
        decode(text.as_ref(), Path::new("x"), options, &mut kept).map_err(|error| error.to_string())?;
    kept.warnings = origin.warnings;
    kept.format = Some(origin.format);
    Ok(kept)
}

pub(in crate::read) fn one(text: impl AsRef<[u8]>) -> Sample {
    let mut kept = read(text).unwrap();
    assert_eq!(kept.samples.len(), 1);
    kept.samples.remove(0)
}

/// Over TCP in milliseconds, absent ones as -1.
pub(in crate::read) fn phases(sample: &Sample) -> [f64; 6] {
    use Metric::{Connect, Dns, Load, Send, Tls, Wait};
    [Dns, Connect, Tls, Send, Wait, Load]
        .map(|phase| sample.get(phase).map_or(-1.0, |nanos| nanos as f64 / 1e6))
}

pub(in crate::read) fn damaged(file: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let junk = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..8),
        "[\\[\\]{}\":,0-9eE.\\-ntf]{0,12}".prop_map(String::into_bytes),
        prop::sample::select(vec!["null", "-1", "1e308", "18446744073709551616", "\"\"", "{}", "[]", "true"])
            .prop_map(|text| text.as_bytes().to_vec()),
    ];
    let at = any::<prop::sample::Index>();
    (at, 0_usize..12, junk, any::<prop::sample::Index>(), any::<bool>()).prop_map(
        move |(at, removed, junk, cut, is_cut)| {
            let mut bytes = file.as_bytes().to_vec();
            let at = at.index(bytes.len());
            let end = (at + removed).min(bytes.len());
            drop(bytes.splice(at..end, junk));
            if is_cut {
                bytes.truncate(cut.index(bytes.len()));
            }
            bytes
        },
    )
}

pub(in crate::read) fn refused_by_sink(text: &str) -> String {
    struct Once(u32);
    impl Sink for Once {
        fn event(&mut self, _: &Event<'_>) -> Result<(), Error> {
            self.0 += 1;
            let refusal = Error::Write { path: None, line: 2, source: std::io::Error::other("full") };
            if self.0 == 2 { Err(refusal) } else { Ok(()) }
        }
        fn counts(&mut self, _: &Counts) -> Result<(), Error> {
            Ok(())
        }
    }
    let error = decode(text.as_bytes(), Path::new("x"), &Options::default(), &mut Once(0)).unwrap_err();
    error.to_string()
}
