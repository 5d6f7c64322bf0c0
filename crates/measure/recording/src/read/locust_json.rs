//! Reads the output of `locust --json`: for each request name, the number of requests per rounded
//! duration.
//!
//! Locust rounds to a millisecond, from 100 ms on to two digits, and from 10 s on to a second
//! (`locust/stats.py`). Failed requests are among the times: their share is left out of each.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{
    Frame, Input, Labels, Options,
    json::{Text, whole},
    locust::failed_among,
    summary::{failures, latency_only, mean, thinned},
};
use crate::{Bucket, Counts, Error, Metric, Sink, error::counted};

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let (entries, place): (Vec<Entry>, _) = whole(input, "what locust --json prints")?;
    latency_only(options.metric, "Locust's JSON", place.clone())?;
    sink.metric(Metric::Latency);
    let is_tagged = options.labels != Labels::None && entries.len() > 1;
    let mut all = Counts::default();
    let (mut failed, mut total_ms, mut measured) = (0_u64, 0.0, 0_u64);
    for entry in &entries {
        let (buckets, relative_error) = entry.buckets().ok_or_else(|| Error::Number {
            place: place.clone(),
            found: format!("times of {:?} that cannot be", entry.name.0),
            expected: "milliseconds and counts of requests",
        })?;
        failed = failed.saturating_add(entry.failed());
        total_ms += entry.total_ms;
        measured = measured.saturating_add(buckets.iter().map(|bucket| bucket.count).sum());
        let counts =
            Counts { buckets: thinned(buckets, entry.failed()), relative_error, ..Counts::default() };
        if is_tagged {
            sink.counts(&Counts { tag: Some(entry.name.0.clone()), ..counts })?;
        } else {
            all.relative_error = all.relative_error.max(counts.relative_error);
            all.buckets.extend(counts.buckets);
        }
    }
    all.buckets = merged(all.buckets);
    let mut warnings = Vec::new();
    if measured > failed {
        let stated = (measured > 0).then(|| total_ms / measured as f64);
        warnings.push(format!(
            "Locust's JSON has no samples: {} are counted by times of whole milliseconds, and from 100 ms on of two digits.{}",
            counted(measured, "request"),
            if is_tagged || failed > 0 { String::new() } else { mean(&all.buckets, stated) },
        ));
    }
    if !is_tagged && !all.buckets.is_empty() {
        sink.counts(&all)?;
    }
    warnings.extend(failed_among(failed));
    failures([("failed", failed)], sink, &mut warnings)?;
    Ok(Frame { warnings, ..Frame::default() })
}

#[derive(Deserialize)]
struct Entry {
    name: Text,
    num_requests: u64,
    num_failures: u64,
    #[serde(rename = "total_response_time")]
    total_ms: f64,
    #[serde(rename = "min_response_time")]
    fastest_ms: Option<f64>,
    #[serde(rename = "max_response_time")]
    slowest_ms: Option<f64>,
    response_times: BTreeMap<Text, u64>,
}

impl Entry {
    fn failed(&self) -> u64 {
        self.num_failures.min(self.num_requests)
    }

    /// With their largest error; `None` if a time is impossible.
    fn buckets(&self) -> Option<(Vec<Bucket>, f64)> {
        let (low, high) = (self.fastest_ms.unwrap_or(0.0), self.slowest_ms.unwrap_or(f64::MAX));
        let (mut buckets, mut error, mut events) = (Vec::new(), 0.0_f64, 0_u64);
        for (Text(time), &count) in &self.response_times {
            let ms: f64 = time.parse().ok().filter(|ms| (0.0..=crate::unit::MOST_MS).contains(ms))?;
            let bucket = Bucket {
                value_ms: ms,
                low_ms: (ms - half_below(ms)).max(low).max(0.0).min(ms),
                high_ms: (ms + half_above(ms)).min(high).max(ms),
                count,
            };
            events = events.checked_add(count).filter(|&events| events <= MOST_EVENTS)?;
            let width = (bucket.high_ms - ms).max(ms - bucket.low_ms);
            error = error.max(if ms > 0.0 { width / ms } else { 0.0 });
            buckets.push(bucket);
        }
        buckets.retain(|bucket| bucket.count > 0);
        Some((merged(buckets), error.min(Counts::LARGEST_ERROR)))
    }
}

/// In ascending order; buckets of equal times become one.
fn merged(mut buckets: Vec<Bucket>) -> Vec<Bucket> {
    buckets.sort_by(|a, b| a.value_ms.total_cmp(&b.value_ms));
    buckets.dedup_by(|next, kept| {
        let is_same = next.value_ms == kept.value_ms;
        if is_same {
            kept.absorb(*next);
        }
        is_same
    });
    buckets
}

/// 100 may have been 99.6.
fn half_below(ms: f64) -> f64 {
    half_above(if [100.0, 1000.0, 10_000.0].contains(&ms) { ms - 1.0 } else { ms })
}

fn half_above(ms: f64) -> f64 {
    match ms {
        ..100.0 => 0.5,
        ..1000.0 => 5.0,
        ..10_000.0 => 50.0,
        _ => 500.0,
    }
}

/// Counts up to here are exact in f64 too.
const MOST_EVENTS: u64 = 1 << 53;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Format,
        read::json::testing::{read, read_with},
    };

    const JSON: &str = r#"[
    {"name": "/slow", "method": "GET", "last_request_timestamp": 1795899878.3, "start_time": 1795899843.6, "num_requests": 4, "num_none_requests": 0,
     "num_failures": 0, "total_response_time": 812.5, "max_response_time": 206.25, "min_response_time": 200.5, "total_content_length": 5,
     "response_times": {"210": 1, "200": 3}, "num_reqs_per_sec": {"1795899843": 4}, "num_fail_per_sec": {}},
    {"name": "/b", "method": "GET", "last_request_timestamp": 1795899878.3, "start_time": 1795899843.6, "num_requests": 6, "num_none_requests": 0,
     "num_failures": 3, "total_response_time": 25.0, "max_response_time": 5.2, "min_response_time": 3.6, "total_content_length": 5,
     "response_times": {"4": 4, "5": 2}, "num_reqs_per_sec": {"1795899843": 6}, "num_fail_per_sec": {"1795899843": 3}}
]
"#;

    #[test]
    fn rounded_times_have_bounds() {
        let kept = read_with(JSON, &Options::default()).unwrap();
        assert_eq!((kept.format, kept.counts.len()), (Some(Format::LocustJson), 1));
        assert_eq!(kept.points(), [(4.0, 2), (5.0, 1), (200.0, 3), (210.0, 1)]);
        let bounds: Vec<_> = kept.counts[0].buckets.iter().map(|one| (one.low_ms, one.high_ms)).collect();
        assert_eq!(bounds, [(3.6, 4.5), (4.5, 5.2), (200.0, 205.0), (205.0, 210.0)]);
        assert_eq!(kept.samples.len(), 3);
        assert!(
            kept.warnings[1].contains("all failures among its percentiles: 3 requests"),
            "{:?}",
            kept.warnings
        );
        let kept = read(JSON).unwrap();
        let tags: Vec<_> =
            kept.counts.iter().map(|counts| (counts.tag.as_deref(), counts.events())).collect();
        assert_eq!(tags, [(Some("/slow"), 4), (Some("/b"), 3)]);
    }

    #[test]
    fn steps_of_rounding() {
        let halves = [0.0, 99.0, 100.0, 110.0, 1000.0, 1100.0, 10_000.0, 11_000.0]
            .map(|ms| (half_below(ms), half_above(ms)));
        let expected = [
            (0.5, 0.5),
            (0.5, 0.5),
            (0.5, 5.0),
            (5.0, 5.0),
            (5.0, 50.0),
            (50.0, 50.0),
            (50.0, 500.0),
            (500.0, 500.0),
        ];
        assert_eq!(halves, expected);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let said = read(JSON.replace("\"210\"", "\"slow\"")).unwrap_err();
        assert!(said.contains("found times of \"/slow\" that cannot be; expected milliseconds"), "{said}");
    }
}
