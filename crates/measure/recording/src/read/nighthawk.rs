//! Reads nighthawk's JSON: percentiles of the requests of all workers together, with counts.

use serde::Deserialize;

use super::{
    Frame, Input, Options,
    json::{Loose, whole},
    number,
    summary::{PercentileSummary, failures, latency_only},
};
use crate::{Error, Sink};

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let (Run { results }, place): (Run, _) = whole(input, "what nighthawk --output-format json writes")?;
    latency_only(options.metric, SOURCE, place.clone())?;
    // Each worker has results too.
    let all = results.iter().find(|result| result.name.text() == Some("global")).or(results.first());
    let statistic =
        all.and_then(|all| all.statistics.iter().find(|statistic| statistic.id.text() == Some(REQUEST)));
    let (Some(all), Some(statistic)) = (all, statistic) else {
        let found = "this is nighthawk's JSON without times of requests".to_owned();
        return Err(Error::Empty {
            place,
            found,
            expected: "the statistic benchmark_http_client.request_to_response",
        });
    };
    let points = PercentileSummary {
        events: integer(&statistic.count).unwrap_or(0),
        fastest_ms: milliseconds(&statistic.min),
        slowest_ms: milliseconds(&statistic.max),
        mean_ms: milliseconds(&statistic.mean),
        percentiles: statistic
            .percentiles
            .iter()
            .filter_map(|point| Some((point.percentile * 100.0, milliseconds(&point.duration)?)))
            .collect(),
    };
    let mut warnings = Vec::new();
    points.hand_over(SOURCE, place, sink, &mut warnings)?;
    let counters =
        [("benchmark.stream_resets", "stream reset"), ("benchmark.pool_connection_failure", "no connection")];
    let failed = counters.map(|(name, reason)| {
        let counter = all.counters.iter().find(|counter| counter.name.text() == Some(name));
        (reason, counter.and_then(|counter| integer(&counter.value)).unwrap_or(0))
    });
    failures(failed, sink, &mut warnings)?;
    Ok(Frame { warnings, ..Frame::default() })
}

#[derive(Deserialize)]
struct Run {
    results: Vec<Results>,
}

#[derive(Deserialize)]
struct Results {
    #[serde(default)]
    name: Loose,
    #[serde(default)]
    statistics: Vec<Statistic>,
    #[serde(default)]
    counters: Vec<Counter>,
}

#[derive(Deserialize)]
struct Statistic {
    #[serde(default)]
    id: Loose,
    #[serde(default)]
    count: Loose,
    #[serde(default)]
    mean: Loose,
    #[serde(default)]
    min: Loose,
    #[serde(default)]
    max: Loose,
    #[serde(default)]
    percentiles: Vec<Point>,
}

#[derive(Deserialize)]
struct Point {
    #[serde(default)]
    percentile: f64,
    #[serde(default)]
    duration: Loose,
}

#[derive(Deserialize)]
struct Counter {
    #[serde(default)]
    name: Loose,
    #[serde(default)]
    value: Loose,
}

/// JSON of protocol buffers has 64 bits as text.
fn integer(value: &Loose) -> Option<u64> {
    value.text()?.parse().ok()
}

/// "0.000293887s".
fn milliseconds(value: &Loose) -> Option<f64> {
    number::with_unit(value.text()?.as_bytes())
}

/// From the first byte of the request to the last of the response.
const REQUEST: &str = "benchmark_http_client.request_to_response";

const SOURCE: &str = "nighthawk's JSON";

#[cfg(test)]
mod tests {
    use crate::{Format, read::json::testing::read};

    const RUN: &str = r#"{"options":{"requests_per_second":5},"results":[{"name":"worker_0","statistics":[]},{"name":"global","statistics":[
        {"count":"11","id":"benchmark_http_client.queue_to_connect","mean":"0.1s","percentiles":[]},
        {"count":"11","id":"benchmark_http_client.request_to_response","mean":"0.0025s","pstdev":"0.001s","min":"0.001s","max":"0.009s",
        "percentiles":[{"percentile":0,"duration":"0.001s","count":"1"},{"percentile":0.5,"duration":"0.002s","count":"6"},
        {"percentile":0.9,"duration":"0.004s","count":"10"},{"percentile":1,"duration":"0.009s","count":"11"}]}],
        "counters":[{"name":"benchmark.http_2xx","value":"11"},{"name":"benchmark.stream_resets","value":"2"}]}]}"#;

    #[test]
    fn percentiles_of_all_workers() {
        let kept = read(RUN).unwrap();
        assert_eq!(kept.format, Some(Format::Nighthawk));
        let buckets = [(1.0, 1), (2.0, 5), (4.0, 4), (9.0, 1)];
        assert_eq!(kept.points(), buckets);
        assert_eq!(kept.samples.len(), 2);
        assert_eq!(kept.samples[0].error.as_deref(), Some("stream reset"));
        let refused = read(RUN.replace("request_to_response", "other")).unwrap_err();
        assert!(refused.contains("nighthawk's JSON without times"), "{refused}");
    }
}
