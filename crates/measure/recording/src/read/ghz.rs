//! Reads ghz's JSON: the calls with their times, or percentiles if the calls are omitted.
//!
//! `timestamp` is when a call ended (`runner/stats_handler.go` of ghz). A call with another status
//! than OK failed: gRPC has the same codes for responses and for calls without one.

use std::{collections::BTreeMap, fmt};

use serde::{
    Deserialize,
    de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor},
};

use super::{
    Frame, Input, Options,
    json::{Document, Elements, Loose, Moment, Taker, Text, label},
    summary::{PercentileSummary, failures, latency_only},
};
use crate::{Error, Event, Sample, Sink};

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let mut document = Document::new(input, "what ghz -O json writes")?;
    let (mut run, mut sample, mut calls) = (Run::default(), Sample::default(), 0);
    let mut taker = Taker::new(|detail: Detail| {
        calls += 1;
        sample.latency_ns = Some(detail.latency);
        sample.last_byte_ns = sample.latency_ns;
        sample.started_ns = detail.timestamp.and_then(|Moment(end)| end.checked_sub(detail.latency));
        sample.error = detail.failure();
        label(&mut sample, &options.labels, "status", detail.status.text());
        sink.event(&Event { number: calls, sample: &sample, exact: &[] })
    });
    if let Err(error) = document.next(Whole { run: &mut run, taker: &mut taker }) {
        return Err(taker.stopped(error, &document));
    }
    document.end()?;
    let mut warnings = Vec::new();
    if calls > 0 {
        if calls < run.count {
            warnings.push(format!("ghz keeps the first {calls} of {} calls.", run.count));
        }
        return Ok(Frame { warnings, ..Frame::default() });
    }
    let place = document.start();
    latency_only(options.metric, SOURCE, place.clone())?;
    let is_ok = |status: &str| status == "OK";
    let failed = run.statuses.iter().filter(|(Text(status), _)| !is_ok(status));
    let failed: Vec<(&str, u64)> = failed.map(|(Text(status), &count)| (status.as_str(), count)).collect();
    let ms = |nanos: u64| nanos as f64 / 1e6;
    let points = PercentileSummary {
        events: run.count.saturating_sub(failed.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count))),
        fastest_ms: Some(ms(run.fastest)),
        slowest_ms: Some(ms(run.slowest)),
        mean_ms: Some(ms(run.average)),
        percentiles: run
            .percentiles
            .unwrap_or_default()
            .iter()
            .map(|percentile| (percentile.percentage, ms(percentile.latency)))
            .collect(),
    };
    points.hand_over(SOURCE, place, sink, &mut warnings)?;
    failures(failed, sink, &mut warnings)?;
    Ok(Frame { warnings, ..Frame::default() })
}

/// Times in nanoseconds.
#[derive(Default)]
struct Run {
    count: u64,
    average: u64,
    fastest: u64,
    slowest: u64,
    statuses: BTreeMap<Text, u64>,
    percentiles: Option<Vec<Percentile>>,
}

struct Whole<'t, F> {
    run: &'t mut Run,
    taker: &'t mut Taker<F>,
}

impl<'de, F: FnMut(Detail) -> Result<(), Error>> DeserializeSeed<'de> for Whole<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, F: FnMut(Detail) -> Result<(), Error>> Visitor<'de> for Whole<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        let Self { run, taker } = self;
        while let Some(key) = object.next_key::<String>()? {
            match key.as_str() {
                "count" => run.count = object.next_value()?,
                "average" => run.average = object.next_value()?,
                "fastest" => run.fastest = object.next_value()?,
                "slowest" => run.slowest = object.next_value()?,
                "statusCodeDistribution" => run.statuses = object.next_value()?,
                "latencyDistribution" => run.percentiles = object.next_value()?,
                "details" => object.next_value_seed(Calls { taker: &mut *taker })?,
                _ => drop(object.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

struct Calls<'t, F> {
    taker: &'t mut Taker<F>,
}

impl<'de, F: FnMut(Detail) -> Result<(), Error>> DeserializeSeed<'de> for Calls<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de, F: FnMut(Detail) -> Result<(), Error>> Visitor<'de> for Calls<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array or null")
    }

    fn visit_none<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        Elements::new(self.taker).deserialize(deserializer)
    }
}

#[derive(Deserialize)]
struct Percentile {
    percentage: f64,
    latency: u64,
}

#[derive(Deserialize)]
struct Detail {
    timestamp: Option<Moment>,
    latency: u64,
    #[serde(default)]
    error: Loose,
    #[serde(default)]
    status: Loose,
}

impl Detail {
    fn failure(&self) -> Option<String> {
        let is_ok = self.status.text().is_none_or(|status| status == "OK");
        let error = self.error.text();
        if is_ok { error.map(str::to_owned) } else { self.status.text().map(str::to_owned) }
    }
}

const SOURCE: &str = "ghz's JSON";

#[cfg(test)]
mod tests {
    use crate::{Format, read::json::testing::read};

    const RUN: &str = r#"{"date":"2025-03-14T09:26:53Z","count":4,"total":100000000,"average":12000000,"fastest":5000000,"slowest":20000000,"rps":40,
        "errorDistribution":{"rpc error: code = Unavailable desc = x":1},"statusCodeDistribution":{"OK":3,"Unavailable":1},
        "latencyDistribution":[{"percentage":50,"latency":10000000},{"percentage":99,"latency":20000000}],
        "histogram":[{"mark":0.005,"count":1,"frequency":0.25}],
        "details":[{"timestamp":"2025-03-14T09:26:53.012Z","latency":12000000,"error":"","status":"OK"},
        {"timestamp":"2025-03-14T09:26:53.05Z","latency":1000000,"error":"rpc error: code = Unavailable desc = x","status":"Unavailable"}]}"#;

    #[test]
    fn calls_are_samples() {
        let kept = read(RUN).unwrap();
        assert_eq!(kept.format, Some(Format::Ghz));
        let [first, second] = &kept.samples[..] else { panic!("{:?}", kept.samples) };
        assert_eq!((first.latency_ns, first.error.as_deref()), (Some(12_000_000), None));
        assert_eq!(first.started_ns, Some(1_741_944_413_000_000_000));
        assert_eq!(
            (second.error.as_deref(), second.labels["status"].as_str()),
            (Some("Unavailable"), "Unavailable")
        );
        assert_eq!(kept.warnings, ["ghz keeps the first 2 of 4 calls."]);
    }

    #[test]
    fn without_calls_there_are_percentiles() {
        let at = RUN.find(",\n        \"details\"").unwrap();
        let kept = read(format!("{},\"details\":null}}", &RUN[..at])).unwrap();
        let buckets = [(5.0, 1), (10.0, 1), (20.0, 1)];
        assert_eq!(kept.points(), buckets);
        assert_eq!(kept.samples[0].error.as_deref(), Some("Unavailable"));
    }
}
