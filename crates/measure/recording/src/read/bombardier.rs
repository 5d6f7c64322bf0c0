//! Reads bombardier's JSON (`bombardier -l -p r -o json`): percentiles in microseconds, the slowest
//! and counts.
//!
//! Without `-l` there are no percentiles. Failed requests are among them.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{
    Frame, Input, Options,
    json::{Text, whole},
    summary::{PercentileSummary, failures, latency_only},
};
use crate::{Error, Sink, error::counted};

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let (Run { result }, place): (Run, _) = whole(input, "what bombardier -l -p r -o json writes")?;
    latency_only(options.metric, SOURCE, place.clone())?;
    let Some(stated) = result.latency.percentiles else {
        let found = "this is bombardier's JSON without percentiles".to_owned();
        return Err(Error::Empty { place, found, expected: "percentiles, which bombardier writes with -l" });
    };
    let responses = [result.req1xx, result.req2xx, result.req3xx, result.req4xx, result.req5xx];
    let Some(events) = responses.into_iter().try_fold(0_u64, u64::checked_add) else {
        let found = "more requests than can be".to_owned();
        return Err(Error::Number { place, found, expected: "counts of requests" });
    };
    let percentiles =
        stated.iter().filter_map(|(Text(percent), us)| Some((percent.parse().ok()?, us / 1e3))).collect();
    let points = PercentileSummary {
        events,
        fastest_ms: None,
        slowest_ms: Some(result.latency.max / 1e3),
        mean_ms: Some(result.latency.mean / 1e3),
        percentiles,
    };
    let mut warnings = Vec::new();
    points.hand_over(SOURCE, place, sink, &mut warnings)?;
    let named = result.errors.iter().fold(0_u64, |sum, error| sum.saturating_add(error.count));
    let reasons = result.errors.iter().map(|error| (error.description.0.as_str(), error.count));
    let rest = ("no response", result.others.saturating_sub(named));
    if result.others > 0 {
        warnings.push(format!(
            "bombardier counts the time of {} until failure among its percentiles.",
            counted(result.others, "failed request")
        ));
    }
    failures(reasons.chain([rest]), sink, &mut warnings)?;
    Ok(Frame { warnings, ..Frame::default() })
}

#[derive(Deserialize)]
struct Run {
    result: Totals,
}

#[derive(Deserialize)]
struct Totals {
    req1xx: u64,
    req2xx: u64,
    req3xx: u64,
    req4xx: u64,
    req5xx: u64,
    others: u64,
    #[serde(default)]
    errors: Vec<Failed>,
    latency: Latency,
}

#[derive(Deserialize)]
struct Failed {
    description: Text,
    count: u64,
}

#[derive(Deserialize)]
struct Latency {
    mean: f64,
    max: f64,
    percentiles: Option<BTreeMap<Text, f64>>,
}

const SOURCE: &str = "bombardier's JSON";

#[cfg(test)]
mod tests {
    use crate::{Format, read::json::testing::read};

    const RUN: &str = r#"{"spec":{"numberOfConnections":4,"testType":"timed","method":"GET","url":"http://127.0.0.1/","client":"fasthttp"},
        "result":{"bytesRead":145565,"timeTakenSeconds":2.04,"req1xx":0,"req2xx":177,"req3xx":0,"req4xx":0,"req5xx":2,"others":3,
        "errors":[{"description":"timeout","count":2}],
        "latency":{"mean":45354.4,"stddev":6892.8,"max":56078,"percentiles":{"50":44041,"75":48002,"90":51918,"95":52025,"99":55928}},
        "rps":{"mean":86.9,"stddev":45.7,"max":204.0,"percentiles":{"50":98.28}}}}"#;

    #[test]
    fn percentiles_in_microseconds() {
        let kept = read(RUN).unwrap();
        assert_eq!(kept.format, Some(Format::Bombardier));
        let buckets = [(44.041, 90), (48.002, 45), (51.918, 27), (52.025, 9), (55.928, 7), (56.078, 1)];
        assert_eq!(kept.points(), buckets);
        let errors: Vec<_> = kept.samples.iter().map(|sample| sample.error.as_deref().unwrap()).collect();
        assert_eq!(errors, ["timeout", "timeout", "no response"]);
        assert!(kept.warnings[1].contains("3 failed requests"), "{:?}", kept.warnings);
        let at = RUN.find(",\"percentiles\":{\"50\":44041").unwrap();
        let to = at + RUN[at..].find('}').unwrap();
        let refused = read([&RUN[..at], &RUN[to + 1..]].concat()).unwrap_err();
        assert!(refused.contains("bombardier writes with -l"), "{refused}");
    }
}
