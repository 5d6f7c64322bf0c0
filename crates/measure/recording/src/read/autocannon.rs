//! Reads autocannon's JSON (`autocannon --json`): percentiles in whole milliseconds, the extremes
//! and counts.
//!
//! The percentiles are of all responses. `errors` counts requests without a response, `timeouts` is
//! a part of it.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{
    Frame, Input, Options,
    json::{Loose, Text, whole},
    summary::{PercentileSummary, failures, latency_only},
};
use crate::{Error, Sink};

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let (run, place): (Run, _) = whole(input, "what autocannon --json writes")?;
    latency_only(options.metric, SOURCE, place.clone())?;
    let figure = |name: &str| run.latency.get(&Text(name.to_owned()))?.text()?.parse::<f64>().ok();
    let percentiles: Vec<(f64, f64)> = run
        .latency
        .iter()
        .filter_map(|(Text(name), value)| {
            // "p97_5".
            let percent = name.strip_prefix('p')?.replace('_', ".").parse().ok()?;
            Some((percent, value.text()?.parse().ok()?))
        })
        .collect();
    // `min` leaves out times below a millisecond, which are 0 among the percentiles.
    let lowest = percentiles.iter().map(|&(_, ms)| ms).fold(f64::INFINITY, f64::min);
    let count = run.latency.get(&Text("totalCount".to_owned())).and_then(|count| count.text()?.parse().ok());
    let points = PercentileSummary {
        events: count.unwrap_or(run.requests.total),
        fastest_ms: figure("min").map(|min| min.min(lowest)),
        slowest_ms: figure("max"),
        mean_ms: figure("average"),
        percentiles,
    };
    let mut warnings = Vec::new();
    points.hand_over(SOURCE, place, sink, &mut warnings)?;
    let timeouts = run.timeouts.min(run.errors);
    failures([("timeout", timeouts), ("no response", run.errors - timeouts)], sink, &mut warnings)?;
    Ok(Frame { warnings, ..Frame::default() })
}

#[derive(Deserialize)]
struct Run {
    latency: BTreeMap<Text, Loose>,
    requests: Requests,
    #[serde(default)]
    errors: u64,
    #[serde(default)]
    timeouts: u64,
}

#[derive(Deserialize)]
struct Requests {
    total: u64,
}

const SOURCE: &str = "autocannon's JSON";

#[cfg(test)]
mod tests {
    use crate::{Format, read::json::testing::read};

    const RUN: &str = r#"{"url":"http://127.0.0.1/","connections":4,"pipelining":1,"duration":2.01,"errors":3,"timeouts":1,"non2xx":8,
        "2xx":167,"5xx":8,"latency":{"average":44.87,"mean":44.87,"stddev":6.29,"min":8,"max":63,"p0_001":8,"p1":10,"p50":44,
        "p97_5":54,"p99":60,"p99_9":63,"totalCount":175},"requests":{"average":87.5,"total":175,"p50":87},"throughput":{"p50":70783}}"#;

    #[test]
    fn percentiles_and_counts() {
        let kept = read(RUN).unwrap();
        assert_eq!(kept.format, Some(Format::Autocannon));
        // p50 of 175: up to the 88th; p99: up to rank 172.26 from 0.
        let buckets = [(8.0, 2), (10.0, 1), (44.0, 85), (54.0, 83), (60.0, 3), (63.0, 1)];
        assert_eq!(kept.points(), buckets);
        let errors: Vec<_> = kept.samples.iter().map(|sample| sample.error.as_deref().unwrap()).collect();
        assert_eq!(errors, ["timeout", "no response", "no response"]);
        assert!(kept.warnings[0].contains("the file states 44.9 ms"), "{:?}", kept.warnings);
        let older = RUN.replace(",\"totalCount\":175", "");
        assert_eq!(read(older).unwrap().counts, kept.counts);
        let below = read(RUN.replace("\"p0_001\":8", "\"p0_001\":0")).unwrap();
        assert_eq!(below.points()[..2], [(0.0, 2), (10.0, 1)]);
        assert!(read(RUN.replace("\"p50\":44", "\"p50\":4")).unwrap_err().contains("percentiles that fall"));
    }
}
