//! k6's summary at the end of a run (`--summary-export` or `handleSummary`): percentiles in
//! milliseconds, and counts.
//!
//! `http_req_duration` is the latency. Its percentiles include requests without a response, often
//! with 0.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::{
    Error, Sink,
    error::counted,
    read::{
        Frame, Input, Options,
        json::{Loose, Text, whole},
        summary::{PercentileSummary, latency_only},
    },
};

pub(in crate::read) fn read(
    input: Input<'_>,
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<Frame, Error> {
    let (summary, place): (Summary, _) = whole(input, "what k6 --summary-export or handleSummary writes")?;
    latency_only(options.metric, SOURCE, place.clone())?;
    let figures = |metric: &str| summary.metrics.get(&Text(metric.to_owned())).map(Metric::figures);
    let (Some(duration), Some(requests)) = (figures("http_req_duration"), figures("http_reqs")) else {
        let found = "k6's summary without requests of HTTP".to_owned();
        return Err(Error::Empty { place, found, expected: "the metrics http_req_duration and http_reqs" });
    };
    let figure = |name: &str| duration.get(&Text(name.to_owned())).and_then(number);
    let percentiles = duration.iter().filter_map(|(Text(name), value)| {
        let percent = name.strip_prefix("p(").and_then(|name| name.strip_suffix(')'));
        Some((percent?.parse().ok()?, number(value)?))
    });
    let events = requests.get(&Text("count".to_owned())).and_then(|count| count.text()?.parse().ok());
    let points = PercentileSummary {
        events: events.unwrap_or(0),
        fastest_ms: figure("min"),
        slowest_ms: figure("max"),
        mean_ms: figure("avg"),
        percentiles: percentiles.chain(figure("med").map(|ms| (50.0, ms))).collect(),
    };
    let mut warnings = Vec::new();
    points.hand_over(SOURCE, place, sink, &mut warnings)?;
    // "passes" of a rate counts true values, which are failures for this metric.
    let failed = figures("http_req_failed");
    let failed =
        failed.and_then(|failed| failed.get(&Text("passes".to_owned()))?.text()?.parse::<u64>().ok());
    if let Some(failed) = failed.filter(|&failed| failed > 0) {
        warnings.push(format!(
            "k6 counts {} as failed, with a status of 400 or more or without a response: which of both is not in the summary, and \
             they are among the percentiles.",
            counted(failed, "request")
        ));
    }
    Ok(Frame { warnings, ..Frame::default() })
}

#[derive(Deserialize)]
struct Summary {
    metrics: BTreeMap<Text, Metric>,
}

/// Within `values` or not.
#[derive(Deserialize)]
struct Metric {
    values: Option<BTreeMap<Text, Loose>>,
    #[serde(flatten)]
    others: BTreeMap<Text, Loose>,
}

impl Metric {
    fn figures(&self) -> &BTreeMap<Text, Loose> {
        self.values.as_ref().unwrap_or(&self.others)
    }
}

fn number(value: &Loose) -> Option<f64> {
    value.text()?.parse().ok()
}

const SOURCE: &str = "k6's summary";

#[cfg(test)]
mod tests {
    use crate::{Format, read::json::testing::read};

    const EXPORT: &str = r#"{"root_group":{"name":"","path":"","groups":{},"checks":{}},"metrics":{
        "http_req_duration":{"avg":12.5,"min":5,"med":10,"max":40,"p(90)":20,"p(95)":30,"thresholds":{"p(95)<500":false}},
        "http_reqs":{"count":101,"rate":9.9},"http_req_failed":{"value":0.01,"passes":1,"fails":100},
        "http_req_waiting":{"avg":1,"min":1,"med":1,"max":1,"p(90)":1,"p(95)":1}}}"#;

    const HANDLED: &str = r#"{"root_group":{"name":""},"options":{"summaryTrendStats":["avg"]},"state":{"testRunDurationMs":10000},"metrics":{
        "http_req_duration":{"type":"trend","contains":"time","values":{"avg":12.5,"min":5,"med":10,"max":40,"p(90)":20,"p(95)":30}},
        "http_reqs":{"type":"counter","contains":"default","values":{"count":101,"rate":9.9}},
        "http_req_failed":{"type":"rate","contains":"default","values":{"rate":0.01,"passes":1,"fails":100}}}}"#;

    #[test]
    fn percentiles_and_a_count() {
        for text in [EXPORT, HANDLED] {
            let kept = read(text).unwrap();
            assert_eq!(kept.format, Some(Format::K6Summary));
            let buckets = [(5.0, 1), (10.0, 50), (20.0, 40), (30.0, 5), (40.0, 5)];
            assert_eq!(kept.points(), buckets);
            assert!(
                kept.warnings[0].starts_with("k6's summary has no samples: only 5 points"),
                "{:?}",
                kept.warnings
            );
            assert!(kept.warnings[1].starts_with("k6 counts 1 request as failed"), "{:?}", kept.warnings);
        }
        let refused = read(EXPORT.replace("http_reqs", "ws_sessions")).unwrap_err();
        assert!(refused.contains("k6's summary without requests of HTTP"), "{refused}");
    }
}
