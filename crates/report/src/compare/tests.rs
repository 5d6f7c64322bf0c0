//! Comparisons whose numbers can be derived by hand.

use super::*;

fn side(label: &str, samples: &[f64]) -> SideInput {
    SideInput {
        label: label.to_owned(),
        distribution: Distribution::new(samples.to_vec()).unwrap(),
        timed: None,
        failed: 0,
        without_metric: 0,
        invalid: Vec::new(),
    }
}

/// 99 fast requests and a slow one.
fn swift() -> SideInput {
    let mut samples = vec![10.0; 99];
    samples.push(500.0);
    side("swift", &samples)
}

fn steady() -> SideInput {
    side("steady", &[20.0; 100])
}

fn sentence(sides: &[SideInput], page: Page) -> String {
    compare(Metric::Latency, sides, page).verdict.unwrap().sentence
}

fn page() -> Page {
    Page::new(180, 0.5).unwrap()
}

#[test]
fn the_verdict_flips() {
    let comparison = compare(Metric::Ttfb, &[swift(), steady()], page());
    assert_eq!((comparison.schema.as_str(), comparison.metric.as_str()), ("longhaul.compare/1", "ttfb"));
    assert_eq!(comparison.page.effective_requests, 90);
    let verdict = comparison.verdict.unwrap();
    assert_eq!(
        verdict.median_request,
        crate::Verdict { better: Some("swift".to_owned()), difference_ms: 10.0 }
    );
    // (99 x 10 + 500)/100 = 14.9.
    assert_eq!(verdict.request.better.as_deref(), Some("swift"));
    assert!((verdict.request.difference_ms - 5.1).abs() < 1e-12);
    // 10 + 490 (1 - 0.99^90) = 301.68.
    assert_eq!(verdict.experienced.better.as_deref(), Some("steady"));
    assert!((verdict.experienced.difference_ms - 281.68).abs() < 0.01);
    assert_eq!(
        verdict.sentence,
        "swift is 10.0 ms faster at the median request, but steady is 281.7 ms faster for the expected page of 180 \
         requests (90 required)."
    );
}

#[test]
fn sentences_for_agreement_and_ties() {
    let (fast, slow) = (side("fast", &[10.0; 30]), side("slow", &[10.25; 30]));
    let all = Page::new(7, 1.0).unwrap();
    assert_eq!(
        sentence(&[fast.clone(), slow.clone()], all),
        "fast is 0.25 ms faster at the median request and 0.25 ms faster for the expected page of 7 requests."
    );
    assert_eq!(
        sentence(&[fast.clone(), fast.clone()], Page::new(1, 1.0).unwrap()),
        "Both are level at the median request and for the expected page of 1 request."
    );
    let three = [steady(), side("level", &[20.0; 100]), swift()];
    assert_eq!(
        sentence(&three, all),
        "swift is 10.0 ms faster than the next at the median request, but the best are level for the expected page \
         of 7 requests."
    );
    assert_eq!(
        sentence(&[fast, side("late", &[10.0, 10.0, 13.0])], all),
        // 10 + 3 (1 - (2/3)^7) = 12.8244.
        "Both are level at the median request, but fast is 2.8 ms faster for the expected page of 7 requests."
    );
}

#[test]
fn one_side_is_described_without_a_verdict() {
    let comparison = compare(Metric::Latency, &[swift()], page());
    assert_eq!((comparison.verdict, comparison.crossovers), (None, Vec::new()));
    let side = &comparison.sides[0];
    assert_eq!((side.n, side.min_ms, side.max_ms), (100, 10.0, 500.0));
    assert_eq!(side.request_percentiles_ms["50"], 10.0);
    // Position 99 x 0.999 = 98.901: 10 + 0.901 x 490.
    assert!((side.request_percentiles_ms["99.9"] - 451.49).abs() < 1e-9);
    // (100 - 10)/(100 - 1), and its 90th power: 0.000187 of visitors.
    assert!((side.thin_above - 9000.0 / 99.0).abs() < 1e-12);
    assert!((side.experienced_thin_above - 0.0188).abs() < 1e-4);
    // 0.5^(1/90).
    assert!((comparison.percentile_to_watch["50"] - 99.232_795).abs() < 1e-6);
    assert_eq!(compare(Metric::Latency, &[], page()).sides, []);
}

#[test]
fn what_is_missing_is_said() {
    let mut lossy = swift();
    (lossy.failed, lossy.without_metric) = (3, 7);
    let warnings = compare(Metric::Tls, &[lossy, side("few", &[1.0, 2.0])], page()).warnings;
    assert_eq!(
        warnings,
        [
            "swift: 3 of 110 events failed; they are in no percentile.",
            "swift: 7 of 110 samples carry no tls; they are left out.",
            "swift: 100 samples are too few for 90 effective requests: what even the median person waits for is \
             decided by fewer than 10 of them.",
            "few: 2 samples are too few for 90 effective requests: what even the median person waits for is decided \
             by fewer than 10 of them.",
            "Fewer than 20 samples on a side: too few to say where they cross.",
        ]
    );
    // ((5000 - 10)/4999)^90 = exp(-90 x 0.00180198) = 0.850.
    let samples: Vec<f64> = (0..5000).map(f64::from).collect();
    let warnings = compare(Metric::Tls, &[side("some", &samples)], page()).warnings;
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0].contains("with 5000 samples, what people above the 85.0th percentile"),
        "{}",
        warnings[0]
    );
}

#[test]
fn crossovers_name_the_side_that_is_faster_above() {
    let uniform = |label, from: f64, width: f64| {
        let samples: Vec<f64> = (0..10_000).map(|i| from + width * f64::from(i) / 9999.0).collect();
        side(label, &samples)
    };
    // 100 + 100 p and 50 + 200 p meet at p = 1/2.
    let comparison =
        compare(Metric::Latency, &[uniform("narrow", 100.0, 100.0), uniform("wide", 50.0, 200.0)], page());
    assert_eq!(comparison.crossovers.len(), 1);
    let crossover = &comparison.crossovers[0];
    assert!((crossover.percentile - 50.0).abs() < 1e-6 && (crossover.latency_ms - 150.0).abs() < 1e-6);
    assert_eq!(crossover.faster_above, "narrow");
}

#[test]
fn equal_labels_are_told_apart() {
    let labels = ["a", "a", "a (2)", "b", "a"].map(|label| side(label, &[1.0]));
    assert_eq!(distinct_labels(&labels), ["a", "a (2)", "a (2) (2)", "b", "a (3)"]);
}

#[test]
fn charts_run_from_end_to_end() {
    let samples: Vec<f64> = (0..50_000).map(f64::from).collect();
    let mut long = side("side", &samples);
    long.timed = Some(Timed {
        started_s: samples.iter().map(|i| i / 1000.0).collect(),
        values_ms: samples.iter().map(|i| i % 1000.0).collect(),
    });
    let mut single = side("side", &[7.0]);
    single.timed = Some(Timed { started_s: vec![49.5], values_ms: vec![7.0] });
    let drawn = charts(&[long, single, swift()], 400).unwrap();

    let quantiles = &drawn[0].quantiles;
    assert_eq!((quantiles.share[0], *quantiles.share.last().unwrap()), (0.0, 1.0));
    assert_eq!(quantiles.share.len(), quantiles.latency_ms.len());
    assert!(quantiles.share.windows(2).all(|pair| pair[0] < pair[1]));
    assert_eq!(drawn[0].experienced.len(), 400);
    assert!((drawn[0].experienced[0].expected_ms - 24_999.5).abs() < 1e-9);
    // 0.5^(1/400) = 0.9982686 of 49999.
    assert!((drawn[0].experienced[399].percentiles_ms[0] - 49_912.43).abs() < 0.01);

    // One interval for all: 50 s of 1000 a second make 100 intervals of 0.5 s, 500 samples in each.
    let over_time = drawn[0].over_time.as_ref().unwrap();
    assert_eq!((over_time.interval_s, over_time.start_s.len()), (0.5, 100));
    assert_eq!((over_time.start_s[1], over_time.count[1], over_time.max_ms[1]), (0.5, 500, 999.0));
    let over_time = drawn[1].over_time.as_ref().unwrap();
    assert_eq!(
        (over_time.start_s.as_slice(), over_time.count.as_slice()),
        ([49.5].as_slice(), [1].as_slice())
    );

    assert_eq!(drawn[1].label, "side (2)");
    assert_eq!(
        (&drawn[1].quantiles.share[..], &drawn[1].quantiles.latency_ms[..]),
        (&[0.0, 1.0][..], &[7.0, 7.0][..])
    );
    assert_eq!(drawn[2].over_time, None);
}

#[test]
fn columns_that_do_not_match_are_an_error() {
    let mut broken = swift();
    broken.timed = Some(Timed { started_s: vec![1.0], values_ms: vec![] });
    assert_eq!(charts(&[broken], 1).unwrap_err(), experience::Error::Unpaired { times: 1, values: 0 });
}

#[test]
fn a_series_becomes_a_side() {
    let text = "started_s,latency_ms,error\n1,30,\n0,10,\n2,,reset\n3,,\n";
    let series = recording::decode_series(text.as_bytes(), std::path::Path::new("x/edge.csv"), None).unwrap();
    let side = SideInput::try_from(series).unwrap();
    assert_eq!((side.label.as_str(), side.failed, side.without_metric), ("edge", 1, 1));
    assert_eq!((side.distribution.at_rank(0), side.distribution.at_rank(1)), (10.0, 30.0));
    // In the order of the file, unlike the distribution.
    assert_eq!(side.timed, Some(Timed { started_s: vec![1.0, 0.0], values_ms: vec![30.0, 10.0] }));
}
