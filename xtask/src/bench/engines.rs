//! Run time of the individual parts of a comparison.

use std::{hint::black_box, time::Instant};

use recording::Histogram;
use statistics::{Distribution, Scheme, Settings, resample};

use super::row;

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
pub(crate) fn bench() -> anyhow::Result<()> {
    let timed = |repeats: usize, work: &mut dyn FnMut()| -> Vec<f64> {
        let time = |_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        };
        (0..repeats).map(time).collect()
    };

    let values: Vec<u64> = (0..MILLION).map(|i| 1_000_000 + i * 7919 % 40_000_000).collect();
    let seconds = timed(7, &mut || {
        let mut histogram = Histogram::new(3);
        values.iter().for_each(|&value| histogram.record(value));
        black_box(histogram.count());
    });
    let each = seconds.into_iter().map(|seconds| seconds * 1e9 / values.len() as f64).collect();
    row("record into a histogram of 3 digits", "<= 10 ns", "ns", each);

    let parts: Vec<Histogram> = (0..1000)
        .map(|part| {
            let mut histogram = Histogram::new(3);
            values.iter().skip(part).step_by(997).for_each(|&value| histogram.record(value * 20));
            histogram
        })
        .collect();
    let seconds = timed(7, &mut || {
        let mut whole = Histogram::new(3);
        parts.iter().for_each(|part| whole.merge(part));
        black_box(whole.count());
    });
    let each = seconds.into_iter().map(|seconds| seconds * 1e3).collect();
    row("merge 1000 histograms of 3 digits", "<= 50 ms", "ms", each);

    let samples: Vec<f64> = values.iter().map(|&value| value as f64 / 1e6).collect();
    let side = Distribution::new(samples.clone())?;
    for (what, scheme) in [
        ("1000 resamples of n = 1e6: mean, percentiles, E[max of 90]", Scheme::Independent),
        ("the same by blocks of 50 neighbours", Scheme::Blocks { in_time_ms: &samples, length: 50 }),
    ] {
        let mut failed = None;
        let seconds = timed(3, &mut || match resample(&[(&side, scheme)], 90, &Settings::default()) {
            Ok(resamples) => drop(black_box(resamples)),
            Err(error) => failed = Some(error),
        });
        if let Some(error) = failed {
            return Err(error.into());
        }
        row(what, "<= 10 s", "s", seconds);
    }
    Ok(())
}

const MILLION: u64 = 1_000_000;
