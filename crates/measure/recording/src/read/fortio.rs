//! Reads fortio's JSON: a histogram with the limits of its buckets, in seconds.
//!
//! Calls without a response, under the code -1, are in the histogram: the failed share is left out
//! of each bucket.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{
    Frame, Input, Options,
    json::{Text, integer, whole},
    summary::{Bin, failures, latency_only, mean, of_bins, thinned},
};
use crate::{Counts, Error, Metric, Sink, error::counted};

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let (run, place): (Run, _) = whole(input, "what fortio load -json writes")?;
    latency_only(options.metric, "fortio's JSON", place.clone())?;
    sink.metric(Metric::Latency);
    let ms = |seconds: f64| seconds * 1e3;
    let bins: Vec<Bin> = run
        .histogram
        .data
        .iter()
        .map(|bucket| Bin { low_ms: ms(bucket.start), high_ms: ms(bucket.end), count: bucket.count.0 })
        .collect();
    let counts = of_bins(&bins).ok_or_else(|| Error::Number {
        place,
        found: "buckets that fall or cannot be".to_owned(),
        expected: "buckets with rising limits in seconds",
    })?;
    let mut warnings = Vec::new();
    if !counts.buckets.is_empty() {
        warnings.push(format!(
            "fortio's JSON has no samples: {} are counted at the middles of {}.{}",
            counted(counts.events(), "call"),
            counted(bins.len() as u64, "bucket"),
            mean(&counts.buckets, run.histogram.avg.map(ms))
        ));
    }
    let failed = run.codes.get(&Text("-1".to_owned())).map_or(0, |count| count.0);
    let counts = Counts { buckets: thinned(counts.buckets, failed), ..counts };
    if !counts.buckets.is_empty() {
        sink.counts(&counts)?;
    }
    if failed > 0 {
        warnings.push(format!(
            "The histogram of fortio has the times of {} until failure too.",
            counted(failed, "failed call")
        ));
    }
    failures([("no response", failed)], sink, &mut warnings)?;
    Ok(Frame { warnings, ..Frame::default() })
}

#[derive(Deserialize)]
struct Run {
    #[serde(rename = "DurationHistogram")]
    histogram: Histogram,
    #[serde(default, rename = "RetCodes")]
    codes: BTreeMap<Text, Count>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Histogram {
    avg: Option<f64>,
    #[serde(default)]
    data: Vec<Bucket>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Bucket {
    start: f64,
    end: f64,
    count: Count,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(transparent)]
struct Count(#[serde(deserialize_with = "integer")] u64);

#[cfg(test)]
mod tests {
    use crate::{Format, read::json::testing::read};

    const RUN: &str = r#"{"RunType":"HTTP","Labels":"a","StartTime":"2025-03-14T09:26:53Z","RequestedQPS":"8","ActualDuration":5001018417,
        "DurationHistogram":{"Count":4,"Min":0.0015,"Max":0.007,"Sum":0.0135,"Avg":0.003375,"StdDev":0.001,
        "Data":[{"Start":0.0015,"End":0.0025,"Percent":50,"Count":2},{"Start":0.0025,"End":0.003,"Percent":75,"Count":1},{"Start":0.003,"End":0.007,"Percent":100,"Count":1}],
        "Percentiles":[{"Percentile":50,"Value":0.0025}]},"RetCodes":{"200":3,"-1":1},"URL":"http://a.example/"}"#;

    #[test]
    fn buckets_have_their_limits() {
        let kept = read(RUN).unwrap();
        assert_eq!(kept.format, Some(Format::Fortio));
        // Of 4, 1 failed: 1.5, 2.25 and 3 of the 3 others are up to each limit, rounded.
        assert_eq!(kept.points(), [(2.0, 2), (5.0, 1)]);
        let answered = read(RUN.replace("\"200\":3,\"-1\":1", "\"200\":4")).unwrap();
        assert_eq!(answered.points(), [(2.0, 2), (2.75, 1), (5.0, 1)]);
        assert!((kept.counts[0].relative_error - 0.4).abs() < 1e-12);
        assert_eq!(kept.samples[0].error.as_deref(), Some("no response"));
        assert!(kept.warnings[1].contains("1 failed call until failure"), "{:?}", kept.warnings);
        let quoted = RUN.replace("\"Count\":2}", "\"Count\":\"2\"}").replace("\"-1\":1", "\"-1\":\"1\"");
        assert_eq!(read(quoted).unwrap().points(), kept.points());
        assert_eq!(read(RUN.replace("\"Avg\":0.003375,", "")).unwrap().points(), kept.points());
        let refused = read(RUN.replace("\"Start\":0.0025", "\"Start\":0.001")).unwrap_err();
        assert!(refused.contains("buckets that fall"), "{refused}");
    }
}
