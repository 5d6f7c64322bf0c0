//! A summary of samples with a known distribution.

use super::{tally::Run, *};
use recording::Sample;

fn run() -> Run {
    Run {
        url: "http://localhost/".to_owned(),
        duration_s: 1.0,
        cpu_share: 0.5,
        interrupted: false,
        doubts: Vec::new(),
    }
}

#[test]
fn percentiles_of_one_to_ten_thousand() {
    let mut tally = Tally::new();
    for i in 1..=10_000 {
        tally.add(&Sample { wait_ns: Some(i * 1_000), status: Some(200), ..Sample::default() });
    }
    let summary = tally.summary(run());
    let wait = &summary.phases["wait"];
    assert_eq!((wait.n, wait.min_ms, wait.max_ms), (10_000, 0.001, 10.0));
    assert!((wait.mean_ms - 5.0005).abs() < 1e-9);
    for (percent, expected) in
        [("50", 5.0), ("75", 7.5), ("90", 9.0), ("95", 9.5), ("99", 9.9), ("99.9", 9.99)]
    {
        let found = wait.percentiles_ms[percent];
        assert!((found / expected - 1.0).abs() <= 0.001, "{percent}: {found}");
    }
    assert!((wait.thin_above - 99.9).abs() < 1e-9);
    assert_eq!(summary.status["200"], 10_000);
}

#[test]
fn percentiles_are_those_of_compare() {
    let mut tally = Tally::new();
    let nanos = [1_000_000, 2_000_000, 3_000_000, 4_000_000];
    for wait in nanos {
        tally.add(&Sample { wait_ns: Some(wait), ..Sample::default() });
    }
    let compared = statistics::Distribution::new(nanos.map(|ns| ns as f64 / 1e6).to_vec()).unwrap();
    let summary = tally.summary(run());
    for (percent, found) in &summary.phases["wait"].percentiles_ms {
        let expected = compared.quantile(percent.parse::<f64>().unwrap() / 100.0);
        assert!((found / expected - 1.0).abs() <= 0.001, "{percent}: {found} for {expected}");
    }
}

#[test]
fn what_never_happened_is_not_there() {
    let mut tally = Tally::new();
    tally.add(&Sample { wait_ns: Some(5), ..Sample::default() });
    tally.add(&Sample { connect_ns: Some(3), error: Some("timeout".to_owned()), ..Sample::default() });
    let summary = tally.summary(run());
    let names: Vec<&str> = summary.phases.keys().map(String::as_str).collect();
    assert_eq!(names, ["ttfb", "ttfb_without_dns", "wait"]);
    assert_eq!((summary.n, summary.errors, summary.errors_by_reason["timeout"]), (2, 1, 1));
    assert_eq!(summary.lateness_ms, None);
}

#[test]
fn json_has_its_schema_and_no_nulls() {
    let mut tally = Tally::new();
    tally.add(&Sample { intended_ns: Some(10), started_ns: Some(30), ..Sample::default() });
    let json = serde_json::to_value(tally.summary(run())).unwrap();
    assert_eq!(json["schema"], "longhaul.probe/2");
    assert_eq!(json["lateness_ms"]["max_ms"], 2e-5);
    assert!(!json.to_string().contains("null"));
    assert!(
        json.to_string().len() > 100
            && schemars::schema_for!(Summary).to_value()["properties"]["phases"].is_object()
    );
}
