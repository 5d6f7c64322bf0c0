//! oha's JSON. It has no samples, only nine percentiles, a histogram of eleven bins, the extremes, and counts.
//!
//! All of these are points of the distribution: so many answers took at most so long. A percentile is one of the values
//! itself (`percentile_iter` in oha's `src/result_data.rs`: the one at `p / 100 * count`, cut off), a bin's key is its
//! upper end (`src/histogram.rs`), and the first bin is the fastest value alone. Where a value is known it is given as it
//! is; what lies between two points is given as their middle, and the relative error is that of the widest such gap.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::{
    Bucket, Counts, Error, Event, Metric, Sample, Sink,
    error::counted,
    read::{
        Frame, Input, Options,
        json::{Document, Seconds},
    },
};

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let mut document = Document::new(input, EXPECTED)?;
    let summary: Summary = match document.next(std::marker::PhantomData) {
        Ok(summary) => summary,
        Err(error) => return Err(document.broken(error)),
    };
    document.end()?;
    let metric = options.metric.unwrap_or(Metric::Latency);
    let Some(known) = summary.of(metric) else {
        let found = "oha's JSON, which has only latency and, in later versions, ttfb".to_owned();
        let expected = format!("samples with {metric}; oha's CSV has more");
        return Err(Error::Metric { place: document.start(), found, expected });
    };
    sink.metric(metric);
    let points = points(&known).ok_or_else(|| Error::Number {
        place: document.start(),
        found: "a histogram with keys or counts that cannot be".to_owned(),
        expected: "seconds, and counts of up to 1e15 requests",
    })?;
    let mut warnings = Vec::new();
    if points.last().is_some_and(|last| last.count > 0) {
        let (buckets, relative_error) = buckets(&points);
        warnings.push(format!(
            "oha's JSON has no samples: only {} of the distribution are known, and between them values may be wrong \
             by up to {:.0} %. Record with oha's CSV to compare.",
            counted(points.len() as u64, "point"),
            relative_error * 100.0
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
    response_time_histogram: BTreeMap<String, u64>,
    #[serde(default)]
    latency_percentiles: BTreeMap<String, Option<Seconds>>,
    #[serde(default)]
    first_byte_histogram: BTreeMap<String, u64>,
    #[serde(default)]
    first_byte_percentiles: BTreeMap<String, Option<Seconds>>,
    #[serde(default)]
    details: Details,
    #[serde(default)]
    error_distribution: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
struct Totals {
    total: Option<Seconds>,
    fastest: Option<Seconds>,
    slowest: Option<Seconds>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Details {
    first_byte: Option<Totals>,
}

/// What is known of one metric's distribution.
struct Known<'s> {
    histogram: &'s BTreeMap<String, u64>,
    percentiles: &'s BTreeMap<String, Option<Seconds>>,
    fastest: Option<Seconds>,
    slowest: Option<Seconds>,
}

impl Summary {
    fn of(&self, metric: Metric) -> Option<Known<'_>> {
        match metric {
            Metric::Latency => Some(Known {
                histogram: &self.response_time_histogram,
                percentiles: &self.latency_percentiles,
                fastest: self.summary.fastest,
                slowest: self.summary.slowest,
            }),
            Metric::Ttfb if !self.first_byte_histogram.is_empty() => Some(Known {
                histogram: &self.first_byte_histogram,
                percentiles: &self.first_byte_percentiles,
                fastest: self.details.first_byte.as_ref().and_then(|byte| byte.fastest),
                slowest: self.details.first_byte.as_ref().and_then(|byte| byte.slowest),
            }),
            _ => None,
        }
    }

    /// Failed requests as events. Those that the end of the test cut off (`-z`) did not fail.
    fn hand_over_failures(&self, sink: &mut dyn Sink, warnings: &mut Vec<String>) -> Result<(), Error> {
        let mut number = 0;
        for (reason, &count) in &self.error_distribution {
            if reason == CUT_OFF {
                continue;
            }
            let sample = Sample { error: Some(reason.clone()), ..Sample::default() };
            let taken = count.min(MOST_FAILURES.saturating_sub(number));
            for _ in 0..taken {
                number += 1;
                sink.event(&Event { number, sample: &sample, exact: &[] })?;
            }
            if taken < count {
                warnings.push(format!("More than {MOST_FAILURES} failures; the rest is left out."));
                break;
            }
        }
        Ok(())
    }
}

/// A point of the distribution: so many values are at most this large.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Point {
    value_ms: f64,
    count: u64,
    /// Whether the value of that rank is known to be just this.
    is_exact: bool,
}

/// All points, ascending in value and in count. `None` if a key is no number, or counts are beyond belief.
fn points(known: &Known<'_>) -> Option<Vec<Point>> {
    let ms = |Seconds(nanos): Seconds| nanos as f64 / 1e6;
    let (fastest, slowest) = (known.fastest.map(ms), known.slowest.map(ms));
    let mut bins = Vec::new();
    for (key, &count) in known.histogram {
        match key.parse::<f64>() {
            Ok(seconds) if (0.0..1e12).contains(&seconds) => bins.push((seconds * 1e3, count)),
            // Without a single answer all keys are NaN.
            Ok(_) if count == 0 => {}
            _ => return None,
        }
    }
    // They stand in the order of their text.
    bins.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut total = 0_u64;
    let mut points = Vec::new();
    for (index, &(end, count)) in bins.iter().enumerate() {
        total = total.checked_add(count).filter(|&total| total <= MOST)?;
        let is_last = index + 1 == bins.len();
        // The last end is computed, and may lie a rounding off the slowest value.
        let value_ms = if is_last { slowest.unwrap_or(end) } else { end };
        points.push(Point { value_ms, count: total, is_exact: false });
    }
    if total == 0 {
        return Some(Vec::new());
    }
    points.extend(fastest.map(|value_ms| Point { value_ms, count: 1, is_exact: true }));
    points.extend(slowest.map(|value_ms| Point { value_ms, count: total, is_exact: true }));
    for (name, value) in known.percentiles {
        let percent: f64 = name.strip_prefix('p')?.parse().ok()?;
        let rank = rank(percent, total);
        points.extend(value.filter(|_| rank <= total).map(|value| Point {
            value_ms: ms(value),
            count: rank,
            is_exact: true,
        }));
    }
    points.sort_unstable_by(|a, b| {
        a.value_ms.total_cmp(&b.value_ms).then(a.count.cmp(&b.count)).then(a.is_exact.cmp(&b.is_exact))
    });
    points.dedup_by(|next, kept| {
        let is_same = (next.value_ms, next.count) == (kept.value_ms, kept.count);
        kept.is_exact |= is_same && next.is_exact;
        is_same
    });
    Some(points)
}

/// The rank, from 1, of the value that oha gives for a percentile.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as oha cuts it off")]
fn rank(percent: f64, count: u64) -> u64 {
    ((percent / 100.0 * count as f64) as u64).saturating_add(1)
}

/// Values with counts, and the largest relative error among those that are only known to lie between two points.
fn buckets(points: &[Point]) -> (Vec<Bucket>, f64) {
    let (mut buckets, mut relative_error) = (Vec::<Bucket>::new(), 0.0_f64);
    let mut below =
        Point { value_ms: points.first().map_or(0.0, |first| first.value_ms), count: 0, is_exact: true };
    let mut push = |value_ms: f64, count: u64| match buckets.last_mut() {
        _ if count == 0 => {}
        Some(last) if last.value_ms == value_ms => last.count += count,
        _ => buckets.push(Bucket { value_ms, count }),
    };
    for point in points {
        let between = point.count.saturating_sub(below.count);
        let exact = between.min(u64::from(point.is_exact));
        let middle = below.value_ms.midpoint(point.value_ms);
        if between > exact {
            let half = (point.value_ms - below.value_ms) / 2.0;
            relative_error = relative_error.max(if half > 0.0 { half / middle } else { 0.0 });
        }
        push(middle, between - exact);
        push(point.value_ms, exact);
        below = Point { count: below.count.max(point.count), ..*point };
    }
    (buckets, relative_error)
}

/// `ClientError::Deadline` in oha's `src/client.rs`.
const CUT_OFF: &str = "aborted due to deadline";

/// Events that are made of failures, which have nothing but their number.
const MOST_FAILURES: u64 = 10_000_000;

/// More requests than anybody sends: a million a second for thirty years.
const MOST: u64 = 1_000_000_000_000_000;

const EXPECTED: &str = "what oha --output-format json writes";
