//! oha's JSON. It has no samples, only nine percentiles, a histogram of eleven bins, the extremes,
//! and counts.
//!
//! A percentile is one of the values (`percentile_iter` in oha's `src/result_data.rs`), a bin's key
//! is its upper end (`src/histogram.rs`), and the first bin is the fastest value alone. Values
//! between two points are in the middle of the bin ([`Statistics`]).

use std::collections::BTreeMap;

use serde::Deserialize;
use units::show::{latency, relative};

use super::ranks::Statistics;
use crate::{
    Bucket, Counts, Error, Metric, Place, Sink,
    error::counted,
    read::{
        Frame, Input, Options,
        json::{Seconds, Text, whole},
        summary::failures,
    },
};

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let (summary, start): (Summary, Place) = whole(input, EXPECTED)?;
    let metric = options.metric.unwrap_or(Metric::Latency);
    let Some(known) = summary.of(metric) else {
        let found = "oha's JSON, which has only latency and, in later versions, ttfb".to_owned();
        let expected = format!("samples with {metric}; oha's CSV has more");
        return Err(Error::Metric { place: start.clone(), found, expected });
    };
    sink.metric(metric);
    let broken =
        |found: &str, expected| Error::Number { place: start.clone(), found: found.to_owned(), expected };
    let known = known.ok_or_else(|| broken(A_HISTOGRAM, "seconds, and counts of up to 1e15 requests"))?;
    let rebuilt = known.rebuild().ok_or_else(|| broken("percentiles that fall", "values that rise"))?;
    let mut warnings = Vec::new();
    if known.count() > 0 {
        let (buckets, relative_error) = rebuilt;
        warnings.push(format!(
            "oha's JSON has no samples: only {} of the distribution are known, and between them values may be wrong \
             by up to {}.{} Record with oha's CSV to compare.",
            counted(known.points() as u64, "point"),
            relative(relative_error),
            summary.mean(metric, &buckets).unwrap_or_default()
        ));
        let length_s = summary.summary.total.map(|Seconds(nanos)| nanos as f64 / 1e9);
        sink.counts(&Counts { length_s, buckets, relative_error, ..Counts::default() })?;
    }
    summary.hand_over_failures(sink, &mut warnings)?;
    Ok(Frame { warnings, ..Frame::default() })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    summary: Totals,
    #[serde(default)]
    response_time_histogram: BTreeMap<Text, u64>,
    #[serde(default)]
    latency_percentiles: BTreeMap<Text, Option<Seconds>>,
    #[serde(default)]
    first_byte_histogram: BTreeMap<Text, u64>,
    #[serde(default)]
    first_byte_percentiles: BTreeMap<Text, Option<Seconds>>,
    #[serde(default)]
    details: Details,
    #[serde(default)]
    status_code_distribution: BTreeMap<Text, u64>,
    #[serde(default)]
    error_distribution: BTreeMap<Text, u64>,
}

#[derive(Deserialize, Default)]
struct Totals {
    average: Option<Seconds>,
    total: Option<Seconds>,
    fastest: Option<Seconds>,
    slowest: Option<Seconds>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Details {
    first_byte: Option<Totals>,
}

impl Summary {
    /// `None` if there are none, and `Some(None)` if a key is not a number or a count is
    /// implausible.
    fn of(&self, metric: Metric) -> Option<Option<Statistics>> {
        let count =
            self.status_code_distribution.values().try_fold(0_u64, |sum, &count| sum.checked_add(count));
        match metric {
            Metric::Latency => Some(count.and_then(|count| {
                known(&self.response_time_histogram, &self.latency_percentiles, &self.summary, count)
            })),
            Metric::Ttfb if !self.first_byte_histogram.is_empty() => {
                let none = Totals::default();
                let totals = self.details.first_byte.as_ref().unwrap_or(&none);
                Some(known(&self.first_byte_histogram, &self.first_byte_percentiles, totals, 0))
            }
            _ => None,
        }
    }

    /// `None` if the file states no mean.
    fn mean(&self, metric: Metric, buckets: &[Bucket]) -> Option<String> {
        let Seconds(average) = match metric {
            Metric::Latency => self.summary.average?,
            _ => self.details.first_byte.as_ref()?.average?,
        };
        let count: u64 = buckets.iter().map(|bucket| bucket.count).sum();
        let sum: f64 = buckets.iter().map(|bucket| bucket.value_ms * bucket.count as f64).sum();
        let (mean, stated) = (sum / count as f64, average as f64 / 1e6);
        Some(format!(
            " The mean comes out as {} ms, where the file states {} ms.",
            latency(mean),
            latency(stated)
        ))
    }

    /// Those that the end of the test cut off (`-z`) did not fail.
    fn hand_over_failures(&self, sink: &mut dyn Sink, warnings: &mut Vec<String>) -> Result<(), Error> {
        let failed = self.error_distribution.iter().filter(|(Text(reason), _)| reason != CUT_OFF);
        failures(failed.map(|(Text(reason), &count)| (reason.as_str(), count)), sink, warnings)
    }
}

fn known(
    histogram: &BTreeMap<Text, u64>,
    percentiles: &BTreeMap<Text, Option<Seconds>>,
    extremes: &Totals,
    count: u64,
) -> Option<Statistics> {
    let ms = |Seconds(nanos): Seconds| nanos as f64 / 1e6;
    let (fastest, slowest) = (extremes.fastest.map(ms), extremes.slowest.map(ms));
    let mut bins = Vec::new();
    for (Text(key), &count) in histogram {
        match key.parse::<f64>() {
            Ok(seconds) if (0.0..1e12).contains(&seconds) => bins.push((seconds * 1e3, count)),
            // Without a single answer all keys are NaN.
            Ok(_) if count == 0 => {}
            _ => return None,
        }
    }
    // They are sorted as text.
    bins.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    // The last end is computed, and may differ from the slowest value by rounding.
    if let (Some((end, _)), Some(slowest)) = (bins.last_mut(), slowest) {
        *end = slowest;
    }
    let total = bins.iter().try_fold(0_u64, |sum, bin| sum.checked_add(bin.1))?;
    if total.max(count) > MOST || !bins.is_sorted_by(|a, b| a.0 <= b.0) {
        return None;
    }
    let mut stated = Vec::new();
    for (Text(name), value) in percentiles {
        let percent: f64 = name.strip_prefix('p')?.parse().ok()?;
        if !(0.0..=100.0).contains(&percent) {
            return None;
        }
        stated.extend(value.map(|value| (percent, ms(value))));
    }
    Some(Statistics { bins, percentiles: stated, fastest, slowest, count })
}

const A_HISTOGRAM: &str = "a histogram with keys or counts that cannot be";

/// `ClientError::Deadline` in oha's `src/client.rs`.
const CUT_OFF: &str = "aborted due to deadline";

/// A million a second for thirty years.
const MOST: u64 = 1_000_000_000_000_000;

const EXPECTED: &str = "what oha --output-format json writes";
