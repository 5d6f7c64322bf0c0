//! Reads artillery's report as JSON (`artillery run --output`): percentiles of the whole run in
//! milliseconds, and counts.
//!
//! The parts of the run are not read: their percentiles do not add up.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{
    Frame, Input, Options,
    json::{Loose, Text, whole},
    summary::{PercentileSummary, failures, latency_only},
};
use crate::{Error, Sink};

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let (Report { aggregate }, place): (Report, _) = whole(input, "what artillery run --output writes")?;
    latency_only(options.metric, SOURCE, place.clone())?;
    let times =
        aggregate.summaries.get(&Text("http.response_time".to_owned())).or(aggregate.latency.as_ref());
    let Some(times) = times else {
        let found = "artillery's report without requests of HTTP".to_owned();
        return Err(Error::Empty { place, found, expected: "the summary http.response_time" });
    };
    let figure = |name: &str| times.get(&Text(name.to_owned())).and_then(number);
    let percentiles = times.iter().filter_map(|(Text(name), value)| Some((percent(name)?, number(value)?)));
    let count = times.get(&Text("count".to_owned())).and_then(|count| count.text()?.parse().ok());
    let points = PercentileSummary {
        events: count.or(aggregate.requests_completed).unwrap_or(0),
        fastest_ms: figure("min"),
        slowest_ms: figure("max"),
        mean_ms: figure("mean"),
        percentiles: percentiles.collect(),
    };
    let mut warnings = Vec::new();
    points.hand_over(SOURCE, place, sink, &mut warnings)?;
    let counters = aggregate
        .counters
        .iter()
        .filter_map(|(Text(name), &count)| Some((name.strip_prefix("errors.")?, count)));
    let errors = aggregate.errors.iter().map(|(Text(name), &count)| (name.as_str(), count));
    failures(counters.chain(errors), sink, &mut warnings)?;
    Ok(Frame { warnings, ..Frame::default() })
}

/// "median", "p95" and "p999", which is 99.9.
fn percent(name: &str) -> Option<f64> {
    if name == "median" {
        return Some(50.0);
    }
    let digits = name.strip_prefix('p').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    let number: f64 = digits.parse().ok()?;
    Some(if digits.len() > 2 { number / 10_f64.powi(i32::try_from(digits.len()).ok()? - 2) } else { number })
}

fn number(value: &Loose) -> Option<f64> {
    value.text()?.parse().ok()
}

#[derive(Deserialize)]
struct Report {
    aggregate: Aggregate,
}

type Figures = BTreeMap<Text, Loose>;

#[derive(Deserialize)]
struct Aggregate {
    #[serde(default)]
    counters: BTreeMap<Text, u64>,
    #[serde(default)]
    summaries: BTreeMap<Text, Figures>,
    /// The rest is of version 1.
    latency: Option<Figures>,
    #[serde(rename = "requestsCompleted")]
    requests_completed: Option<u64>,
    #[serde(default)]
    errors: BTreeMap<Text, u64>,
}

const SOURCE: &str = "artillery's report";

#[cfg(test)]
mod tests {
    use crate::{Format, read::json::testing::read};

    const REPORT: &str = r#"{"aggregate":{"counters":{"http.requests":12,"http.codes.200":11,"errors.ETIMEDOUT":1},"rates":{"http.request_rate":2},
        "summaries":{"http.response_time":{"min":1,"max":9,"count":11,"mean":2.5,"p50":2,"median":2,"p75":3,"p90":4,"p95":4,"p99":8.9,"p999":9},
        "vusers.session_length":{"min":100,"max":100,"count":1}},"histograms":{}},"intermediate":[]}"#;

    const VERSION_1: &str = r#"{"aggregate":{"requestsCompleted":11,"latency":{"min":1,"max":9,"median":2,"p95":4,"p99":8.9},
        "codes":{"200":11},"errors":{"ETIMEDOUT":1}},"intermediate":[]}"#;

    #[test]
    fn percentiles_and_counts() {
        let kept = read(REPORT).unwrap();
        assert_eq!(kept.format, Some(Format::Artillery));
        assert_eq!(kept.points(), [(1.0, 1), (2.0, 5), (3.0, 3), (4.0, 1), (9.0, 1)]);
        assert_eq!(kept.samples[0].error.as_deref(), Some("ETIMEDOUT"));
        let kept = read(VERSION_1).unwrap();
        assert_eq!(kept.points(), [(1.0, 1), (2.0, 5), (4.0, 4), (9.0, 1)]);
        assert_eq!(kept.samples[0].error.as_deref(), Some("ETIMEDOUT"));
        assert!(
            read(r#"{"aggregate":{"counters":{},"summaries":{}},"intermediate":[]}"#)
                .unwrap_err()
                .contains("without requests")
        );
    }
}
